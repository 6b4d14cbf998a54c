"""Tenants who forge all that streamops reads, and what lies beyond their rights."""
