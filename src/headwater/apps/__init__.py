"""Ways in: the command line (`cli`)."""
