"""The page that a browser finds at ``/``: what is served where. Pure; nothing on it runs, and whatever it names is escaped."""

from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import quote

from streamops import __version__
from streamops.model.safe_text import safe

STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#222}"
    "h1{font-size:1.4rem}li{margin:.3rem 0}code{background:#f3f3f3;padding:.1rem .3rem}"
)
LINKS: Final = (
    ("/metrics", "metrics of the server, and of this process"),
    ("/api/v1/status", "the status document, as streamops status -o json prints it"),
    ("/-/healthy", "whether this process lives"),
    ("/-/ready", "whether the server has been looked at once"),
)


def landing_page(label: str, contexts: Iterable[str]) -> str:
    """The page.

    Args:
        label: The server that is scraped, in words, without secrets.
        contexts: Names of the contexts that may be probed.
    """
    links = [*LINKS, *((f"/probe?target={quote(name, safe='')}", f"metrics of {name}") for name in contexts)]
    rows = "\n".join(
        f'<li><a href="{escape(link)}"><code>{escape(safe(link))}</code></a> {escape(safe(words))}</li>'
        for link, words in links
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>streamops exporter</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>streamops exporter {escape(__version__)}</h1>\n"
        f"<p>Redis Streams at <code>{escape(safe(label))}</code>.</p>\n<ul>\n{rows}\n</ul>\n</body>\n</html>\n"
    )
