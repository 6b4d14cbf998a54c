"""HTTP callbacks: topics whose messages are called back to a URL, and the HTTP ingest that takes messages in.

Invariants: pure functions decide what an answer means; no log line and no answer holds a secret or a header's value.
"""
