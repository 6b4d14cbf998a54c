"""streamops: the operations console for Redis Streams."""

__version__ = "0.1.0"
