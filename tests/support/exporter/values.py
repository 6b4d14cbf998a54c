"""Shared by the tests of values."""

BESIDE = {"stream_max_length", "stream_memory_bytes", "group_status"}
"""What is not read with a stream: ``test_values_beside`` has it."""
