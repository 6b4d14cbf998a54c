"""What is published under which name: the stream, the type of its bodies, and defaults."""

from functools import lru_cache
from typing import Any, is_typeddict

import msgspec
from msgspec import Struct

from streamops.errors import PublishError
from streamops.runtime.payloads import Payload


class Schema(Struct, frozen=True):
    """What is published under a name: where to, of which type, and with what defaults.

    Attributes:
        stream: The stream.
        body: The type of the bodies; any unless given.
        name: What the schema is called; the stream's name unless given.
        maxlen: About how many entries the stream keeps, the newest; all unless given.
        payload: Which bodies are kept beside the stream.
    """

    stream: str
    body: Any = Any
    name: str = ""
    maxlen: int | None = None
    payload: Payload | None = None

    def __post_init__(self) -> None:
        check_maxlen(self.maxlen)


@lru_cache(maxsize=1_024)
def bare_schema(stream: str) -> Schema:
    """A stream without a schema of its own."""
    return Schema(stream)


def check_maxlen(maxlen: int | None) -> None:
    """Insist that a cap keeps something; raises ``PublishError``."""
    if maxlen is not None and maxlen < 1:
        raise PublishError(f"maxlen is {maxlen}", "Give about how many entries the stream is to keep.")


def check_type(body: object, schema: Schema) -> None:
    """Insist that a body is of its schema's type; raises ``PublishError``."""
    kind = schema.body
    if isinstance(kind, type) and not is_typeddict(kind):
        if isinstance(body, kind):
            return
        problem = f"it is a {type(body).__name__}"
    else:
        try:
            msgspec.convert(body, kind)
        except (msgspec.ValidationError, TypeError) as error:
            problem = str(error)
        else:
            return
    named = getattr(kind, "__name__", str(kind))
    raise PublishError(
        f"{schema.name or schema.stream} takes {named}: {problem}", "Publish that type, or another stream."
    )
