"""Signatures of what is sent over HTTP: a receiver that knows the secret can tell who calls, and that nothing was changed.

The header is ``t=SECONDS,v1=HEX``, HEX being HMAC-SHA256 of ``SECONDS.BODY`` under the secret that both know. A receiver
refuses signatures that are older than some minutes, and compares in constant time.
"""

import hmac
from hashlib import sha256
from typing import Final

from streamops.model.secret import Secret

SIGNATURE: Final = "X-Streamops-Signature"


def sign(secret: Secret, seconds: int, body: bytes) -> str:
    """The signature of a body, sent at a time of the wall clock."""
    return f"t={seconds},v1={_digest(secret, seconds, body)}"


def verify(secret: Secret, signature: str, body: bytes, *, now: int, tolerance: int = 300) -> bool:
    """Whether a signature is the secret's owner's, of this body, and no older than ``tolerance`` seconds."""
    parts = dict(part.partition("=")[::2] for part in signature.split(","))
    stamp = parts.get("t", "")
    if not (stamp.isascii() and stamp.isdigit()) or abs(now - int(stamp)) > tolerance:
        return False
    return hmac.compare_digest(_digest(secret, int(stamp), body), parts.get("v1", ""))


def _digest(secret: Secret, seconds: int, body: bytes) -> str:
    return hmac.new(secret.reveal().encode(), b"%d." % seconds + body, sha256).hexdigest()
