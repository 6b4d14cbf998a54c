"""What bodies say, as lines of cells. Pure."""
