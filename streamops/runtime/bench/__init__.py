"""Measuring this library, and drilling it, on the user's own server. Law: no key outlives a benchmark for long."""
