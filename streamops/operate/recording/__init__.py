"""Recordings of what the console showed: written while it is shown, played without a server.

Law: a recording holds observations and why there were none; entries, and what is in them, are never in it.
"""
