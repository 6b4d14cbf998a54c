"""Pools of workers in Redis. Each writer states what it has read; if a pool has changed since, the write is refused."""
