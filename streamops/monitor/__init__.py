"""Seeing: discovery, reading, lag, history, health. Law: what judges is pure; what reads names what it could not read."""
