"""Names hold any bytes: text as UTF-8, what is none as lone surrogates; lossless both ways."""


def name_bytes(name: str) -> bytes:
    """The bytes of a name, as a server has it."""
    return name.encode("utf-8", "surrogateescape")


def name_text(raw: bytes) -> str:
    """A name as text; bytes that are no UTF-8 become surrogates."""
    return raw.decode("utf-8", "surrogateescape")
