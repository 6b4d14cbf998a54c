"""What letters of these tests hold."""

WEEK = 7 * 24 * 3600
OWN = [(b"kind", b"order"), (b"tag", b"a"), (b"tag", b"\xff\x00b")]
FLAT = [b"kind", b"order", b"tag", b"a", b"tag", b"\xff\x00b"]
