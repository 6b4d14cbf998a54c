"""From a reading to text. Law: pure; everything printed is in the catalogue, and both renderers print the same bytes."""
