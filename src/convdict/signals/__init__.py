"""Where data comes from, and what is done to it before it is coded."""
