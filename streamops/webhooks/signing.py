"""Signatures of HTTP calls: a receiver that knows the secret can verify the sender and the content."""

import hmac
from hashlib import sha256
from typing import Final, Literal

from streamops.model.secret import Secret

SIGNATURE: Final = "X-Streamops-Signature"
LONGEST_STAMP: Final = 15
"""Digits of a timestamp at most."""


def sign(
    secret: Secret, seconds: int, body: bytes, *, url: str, topic: str, key: str = "", ident: str = ""
) -> str:
    """The signature of a call.

    Args:
        secret: What both know.
        seconds: When it is sent, on the wall clock.
        body: Its body.
        url: Where it goes, as it is called.
        topic: The topic whose message it is, or the pool.
        key: Its ``Idempotency-Key``.
        ident: Its ``X-Streamops-Id``.
    """
    plain = _digest(secret, b"%d." % seconds, body)
    return f"t={seconds},v1={plain},v2={_digest(secret, _head(seconds, key, ident, topic, url), body)}"


def verify(
    secret: Secret,
    signature: str,
    body: bytes,
    *,
    now: int,
    tolerance: int = 300,
    url: str | None = None,
    topic: str | None = "",
    key: str | None = "",
    ident: str | None = "",
    require: Literal["v1", "v2"] = "v1",
) -> bool:
    """Whether a signature is the secret's owner's, of this call, and no older than ``tolerance`` seconds.

    Whatever was received is judged, and nothing raised. A header that is not there may be given as none.

    Args:
        secret: What both know.
        signature: The header that was received.
        body: The body that was received.
        now: The time of the wall clock, in seconds.
        tolerance: How many seconds it may be off.
        url: Where the receiver is called, as the topic has it; with it, ``v2`` is checked if it is there.
        topic: The topic that was received.
        key: The ``Idempotency-Key`` that was received.
        ident: The ``X-Streamops-Id`` that was received.
        require: ``v2`` to refuse a signature that lacks it; needs ``url``.
    """
    pairs = [part.partition("=")[::2] for part in signature.split(",")]
    parts = dict(pairs)
    stamp = parts.get("t", "")
    if len(parts) < len(pairs) or not (stamp.isascii() and stamp.isdigit() and len(stamp) <= LONGEST_STAMP):
        return False
    seconds = int(stamp)
    if abs(now - seconds) > tolerance:
        return False
    if url is None or "v2" not in parts:
        return require == "v1" and _is_same(_digest(secret, b"%d." % seconds, body), parts.get("v1", ""))
    if topic is None or key is None or ident is None or "\n" in f"{key}{ident}{topic}{url}":
        return False
    return _is_same(_digest(secret, _head(seconds, key, ident, topic, url), body), parts["v2"])


def _head(seconds: int, *parts: str) -> bytes:
    # No header and no URL has a line feed in it. What no UTF-8 was is no text that was signed, and raises nothing.
    return "\n".join((str(seconds), *parts, "")).encode(errors="surrogatepass")


def _digest(secret: Secret, head: bytes, body: bytes) -> str:
    return hmac.new(secret.reveal().encode(), head + body, sha256).hexdigest()


def _is_same(digest: str, given: str) -> bool:
    return hmac.compare_digest(digest.encode(), given.encode(errors="surrogatepass"))
