"""Pools in Redis."""
