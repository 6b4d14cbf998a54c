"""Text that a chat only shows: whatever a stream is called, nobody is called by it, and nothing in it is a link. Pure."""

import re
from typing import Final

JOINER: Final = "\u2060"
"""Shows as nothing, and parts what would be a mention or a link."""

_CALLS: Final = re.compile(r"@|<(?=[!@#&:/\w])|\](?=\()")
_LINKS: Final = re.compile(
    # A server's own address is no link, and may be copied.
    r"(?<!\bredis)(?<!\brediss)(?<!\bunix):(?=//)|(?<!\w)(?:mailto|tel|www)(?=[:.])",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"[\\`*_~|\[\]#>]")


def unlinked(text: str) -> str:
    """The text, with links parted."""
    return _LINKS.sub(_parted, text)


def inert(text: str) -> str:
    """The text, with links and mentions parted."""
    return unlinked(_CALLS.sub(_parted, text))


def unformatted(text: str) -> str:
    """The text for a chat that takes plain text for Markdown: its marks are shown."""
    return _MARKS.sub(lambda found: f"\\{found[0]}", text)


def _parted(found: re.Match[str]) -> str:
    return found[0] + JOINER
