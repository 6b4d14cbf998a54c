"""JSON text that is safe to print, and values in it that are not UTF-8."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from streamops.model.text import name_bytes, safe_json

Json = dict[str, Any]


def text_json(text: str) -> str | Json:
    """A name from the server; base64 of its bytes where they were not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"base64": b64encode(name_bytes(text)).decode()}
    return text


def payload_json(value: bytes) -> str | Json:
    """A field's name or value; base64 if it is not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


def encode(document: Mapping[str, Any], *, indent: int = 0) -> str:
    r"""Write a document as JSON that is safe to print: what a terminal would obey or hide is ``\uNNNN``.

    Args:
        document: Plain values.
        indent: Spaces a level; 0 writes one line.
    """
    encoded = msgspec.json.encode(document)
    return safe_json((msgspec.json.format(encoded, indent=indent) if indent else encoded).decode())
