"""What is written by commands rather than by hand: the reference, the tables of the README, the pictures."""
