"""What the page of the pulse tells, line by line. Pure."""
