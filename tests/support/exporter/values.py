"""Metrics that are not of streams, groups and consumers."""

BESIDE = {"stream_max_length", "stream_memory_bytes", "group_status"}
"""What is not read with a stream: ``test_values_beside`` has it."""
