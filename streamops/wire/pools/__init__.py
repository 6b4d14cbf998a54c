"""Pools of workers in Redis. Law: whoever writes says what it knew; a pool that was told something else meanwhile refuses."""
