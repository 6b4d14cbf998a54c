"""The log of requests and results: a line for each message that comes in, each call, and each cancellation.

Bodies stand in it on request, up to a number of bytes and without secrets. From lines in JSON with whole bodies
``webhooks recover`` refills a Redis that was lost.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final

import structlog

from streamops.model.secret import Secret
from streamops.model.topics import Topic

REDACTED: Final = "[redacted]"
_NAMED: Final = re.compile(
    r'("[^"]*(?:password|passwd|secret|token|api_?key|authorization)[^"]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|[^\s,}\]]+)',
    re.IGNORECASE,
)
"""Members of JSON whose name speaks of a secret; the last string may be cut off."""

SHORTEST: Final = 8
"""A shorter value of a header is no secret, and stands everywhere."""


class RequestLog:
    """Writes these lines.

    Args:
        enabled: Whether it writes any.
        bodies: Bytes of a body that are written at most; none at all unless given.
        secrets: Texts that are redacted, in addition to each topic's own secrets.
    """

    def __init__(
        self, *, enabled: bool = True, bodies: int | None = None, secrets: Iterable[Secret] = ()
    ) -> None:
        self.enabled = enabled
        self._bodies = bodies
        self._secrets = [secret.reveal() for secret in secrets]
        self._log = structlog.get_logger("streamops.webhooks")

    def write(self, event: str, topic: str, **facts: Any) -> None:
        """Write a line."""
        if self.enabled:
            self._log.info(event, topic=topic, **facts)

    def body(self, topic: Topic, body: bytes, name: str = "body") -> dict[str, Any]:
        """Fields for a body: its size, its text or base64, and whether it is cut off or redacted."""
        if not self.enabled:
            return {}
        facts: dict[str, Any] = {f"{name}_bytes": len(body)}
        if self._bodies is None:
            return facts
        if len(body) > self._bodies:
            facts[f"{name}_truncated"] = True
        hidden = self._redacted(topic, body)
        if hidden != body:
            facts[f"{name}_redacted"] = True
        shown = hidden[: self._bodies]
        try:
            return {**facts, name: shown.decode()}
        except UnicodeDecodeError:
            return {**facts, f"{name}_base64": b64encode(shown).decode()}

    def _redacted(self, topic: Topic, body: bytes) -> bytes:
        """The body without known secrets, and, if it is text, without members whose names speak of one."""
        own = [value for _, value in topic.headers if len(value) >= SHORTEST]
        if topic.secret is not None:
            own.append(topic.secret.reveal())
        for secret in (*self._secrets, *own):
            body = body.replace(secret.encode(), REDACTED.encode())
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return body
        return _NAMED.sub(rf'\1"{REDACTED}"', text).encode()
