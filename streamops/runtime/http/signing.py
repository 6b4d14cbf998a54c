"""Signatures of callbacks, by the name that receivers import; ``streamops.analysis.signing`` tells what they are."""

from streamops.analysis.signing import SIGNATURE, sign, verify

__all__ = ["SIGNATURE", "sign", "verify"]
