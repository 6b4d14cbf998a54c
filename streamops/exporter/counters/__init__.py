"""What Redis does not count, counted from one observation to the next. Law: pure; no counter ever falls."""
