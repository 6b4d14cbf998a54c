"""HTTP callbacks: topics whose messages are called back to a URL, and the HTTP ingest that takes messages in.

Law: what an answer means is decided by pure functions; no secret and no header's value is ever told.
"""
