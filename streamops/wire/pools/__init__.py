"""Pools of workers in Redis. Law: each writer says what it knew; a pool that was told something else since refuses."""
