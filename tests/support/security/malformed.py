"""Requests that are no HTTP, and bodies that are not what they say to be."""

from typing import Final

_HEAD: Final = b"Host: 127.0.0.1\r\nConnection: close\r\n"
MALFORMED: Final = {
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "words": b"hello\nthere\r\n\r\n",
    "version": b"GET / HTTP/9.9x\r\n\r\n",
    "header": b"GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
    "folded": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00\x1b[2J\n forged\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "negative": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "chunk": b"POST / HTTP/1.1\r\n" + _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "long line": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "long header": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 2_000 + b"\r\n",
    "no URL": b"GET http://[x/ HTTP/1.1\r\n" + _HEAD + b"\r\n",
}
"""Requests that are answered 400 before anybody looks at them."""


def encoded(method: str, path: str, encoding: str, body: bytes, *headers: str) -> bytes:
    """A request with a body that says how it is encoded."""
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Connection: close",
        f"Content-Encoding: {encoding}",
        f"Content-Length: {len(body)}",
        *headers,
        "",
        "",
    )
    return "\r\n".join(lines).encode() + body


def status(answer: bytes) -> int:
    """The status of an answer; zero where there was none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0
