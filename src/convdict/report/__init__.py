"""What people would rather look at than read."""
