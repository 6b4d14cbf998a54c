"""Rows on stdout, in the format that was asked for; what is said about them goes to stderr."""
