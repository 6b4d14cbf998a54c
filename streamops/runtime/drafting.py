"""From a body to what is sent: its fields, and the payload beside the stream where it is too large for it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from streamops.errors import PublishError
from streamops.model.server import Mode
from streamops.runtime.encoding import DATA, encode_body, encode_fields, encode_parts
from streamops.runtime.payloads import DAY, SHAPE, Payload, check_ttl
from streamops.runtime.schemas import Schema, check_type
from streamops.wire.consuming import payloads
from streamops.wire.keys import require_one_slot

Fields = Mapping[str, Any] | Sequence[tuple[str, Any]]

_ONE_FIELD: Final = 2
_MOST_PARTS: Final = payloads.MOST_PARTS - 100


class Draft(NamedTuple):
    """A body on its way to become an entry or a delayed message.

    Attributes:
        parts: Names and values in turn.
        payload: What is kept beside the stream; none where nothing is.
    """

    parts: list[bytes]
    payload: payloads.Payload | None = None


class Drafter:
    """Drafts what one publisher sends.

    Args:
        mode: What the server is: on a cluster a payload must be in its stream's slot.
        payload: Which bodies are kept beside their stream, where their schema does not say.
    """

    def __init__(self, mode: Mode, payload: Payload | None) -> None:
        self._mode = mode
        self._payload = payload

    def draft(
        self,
        schema: Schema,
        body: object,
        payload: bytes | None,
        ttl: timedelta | None,
        fields: Fields,
        *,
        stamp: Sequence[bytes],
    ) -> Draft:
        """Draft one body.

        Args:
            schema: What it has to be.
            body: See ``encode_body``.
            payload: Bytes to be kept beside the stream.
            ttl: How long its payload is kept.
            fields: Further fields, after those of the body.
            stamp: Names and values of reserved fields, after all others.

        Raises:
            PublishError: It cannot be published so.
        """
        if schema.body is not Any:
            check_type(body, schema)
        policy = schema.payload or self._payload
        parts = encode_body(body)
        if policy is None and payload is None and not fields:
            return Draft([*parts, *stamp] if stamp else parts)
        further = [*encode_fields(fields), *stamp]
        if ttl is not None:
            check_ttl(ttl)
        if payload is not None:
            kept = self._keep(schema.stream, payload, ttl or (policy.ttl if policy else DAY), parts)
            return Draft([*parts, *further, *kept.reference], kept)
        if policy is not None and sum(map(len, parts)) > policy.max_inline:
            shape, value = (b"", parts[1])
            if len(parts) != _ONE_FIELD or parts[0] != DATA:
                shape, value = encode_parts(body, parts)
            kept = self._keep(schema.stream, value, ttl or policy.ttl, further)
            # A body that is kept beside the stream is referred to first, before all other fields.
            return Draft([*kept.reference, *((SHAPE, shape) if shape else ()), *further], kept)
        return Draft(parts + further)

    def _keep(self, stream: str, value: bytes, ttl: timedelta, parts: Sequence[bytes]) -> payloads.Payload:
        if len(parts) > _MOST_PARTS:
            raise PublishError(
                f"an entry of {len(parts) // 2} fields cannot have a payload beside it",
                "Make it one field of JSON.",
            )
        kept = payloads.new_payload(stream, value, ttl)
        require_one_slot(self._mode, stream, kept.key)
        return kept
