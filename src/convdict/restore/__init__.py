"""What a dictionary is good for: images without noise, without holes, in few bytes."""
