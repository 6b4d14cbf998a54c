"""Collecting when asked. Law: whoever asks at the same time shares one collection, and nobody waits beyond his deadline."""
