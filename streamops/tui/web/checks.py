"""Who may do what: hosts, origins and tokens. Pure.

A page of anybody's can reach this machine's loopback through the browser that shows it. It cannot forge the origin it
comes from; a name of its own that resolves to loopback stands in the host header; and it does not know the token.
"""

import re
from collections.abc import Mapping
from hmac import compare_digest
from typing import Final

LOOPBACK: Final = re.compile(
    r"(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE
)
"""Names of this machine, at any port: a tunnel may begin at another one."""

HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_own_host(host: str | None) -> bool:
    """Whether a host header names this machine's loopback."""
    return host is not None and LOOPBACK.fullmatch(host) is not None


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from the page that this server itself served."""
    return origin is not None and host is not None and origin.lower() == f"http://{host.lower()}"


def is_token(given: str, token: str) -> bool:
    """Whether it is the token; takes as long for one that is nearly right."""
    return compare_digest(given.encode("utf-8", "replace"), token.encode())


def headers_for(host: str) -> dict[str, str]:
    """What every answer carries: the page may load its own parts alone, and talk to this server alone."""
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        # The terminal makes its own style sheets, from numbers and the names of colours.
        f"script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; "
        f"connect-src 'self' ws://{host}"
    )
    return {**HEADERS, "Content-Security-Policy": policy}
