"""Names of keys: what a stream's name says about what it is for, and the keys that stand beside a stream.

Every key beside a stream ``S`` begins with its tag ``T``, which is ``S`` where that has a hash tag and ``{S}``
otherwise, so that a script may touch it together with the stream. For a few names there is no such tag: a key
beside ``a}b`` would be hashed by ``a`` alone. One server takes them all the same; for a cluster,
``require_one_slot`` refuses them. ``orders`` and ``{orders}`` have the same keys beside them.
"""

from collections.abc import Mapping
from typing import Final

from redis.crc import key_slot

from streamops.errors import Forbidden
from streamops.model.authority import DELAYED_SUFFIX, StreamPart, source_of, tag_of
from streamops.model.streams import Mode, StreamRole
from streamops.model.text import name_bytes

DEAD_LETTER_SUFFIX: Final = ":dlq"
UNDO_INFIX: Final = ":undo:"
OWN_PREFIX: Final = "streamops:"
"""What the names of streamops's own keys begin with: the audit log, jobs, workers and pools."""

NO_CONFIGURATION: Final[Mapping[str, str]] = {}


def stream_role(name: str, dead_letters: Mapping[str, str]) -> tuple[StreamRole, str | None]:
    """What a stream is for, and the stream it serves.

    A dead-letter queue is one that the configuration names, else any stream whose name ends in ``:dlq``;
    a retry stream is ``T:retry:GROUP``.
    """
    for source, queue in dead_letters.items():
        if queue == name:
            return StreamRole.DEAD_LETTERS, source
    if name.endswith(DEAD_LETTER_SUFFIX):
        return StreamRole.DEAD_LETTERS, source_of(name.removesuffix(DEAD_LETTER_SUFFIX))
    if parts := retry_parts(name):
        return StreamRole.RETRY, source_of(parts[0])
    return StreamRole.EVENTS, None


def retry_parts(name: str) -> tuple[str, str] | None:
    """The tag and the group of a retry stream's name; None if it is no such name."""
    tag, infix, group = name.rpartition(StreamPart.RETRIES)
    return (tag, decoded_part(group)) if infix and group and "{" in tag else None


def retry_source(name: str) -> str | None:
    """The stream whose retry stream has this name; None if it is no such name."""
    parts = retry_parts(name)
    return source_of(parts[0]) if parts else None


def is_own_key(key: str) -> bool:
    """Whether a key is one that streamops keeps for itself, or stands beside one."""
    return key.removeprefix("{").startswith(OWN_PREFIX)


def dead_letter_key(stream: str, configured: Mapping[str, str] = NO_CONFIGURATION) -> str:
    """The dead-letter queue of a stream: the one that the configuration names, else ``T:dlq``."""
    return configured.get(stream) or f"{tag_of(stream)}{DEAD_LETTER_SUFFIX}"


def retry_key(stream: str, group: str) -> str:
    """The stream of entries that are due again for one group alone."""
    return f"{tag_of(stream)}{StreamPart.RETRIES}{encoded_part(group)}"


def delayed_key(stream: str, configured: Mapping[str, str] = NO_CONFIGURATION) -> str:
    """The sorted set of a stream's delayed messages: IDs by the millisecond in which they are due.

    It is the one that the configuration names, else ``T:delayed``.
    """
    return configured.get(stream) or f"{tag_of(stream)}{DELAYED_SUFFIX}"


def delayed_jobs_key(stream: str, configured: Mapping[str, str] = NO_CONFIGURATION) -> str:
    """The hash of their bodies by ID."""
    return bodies_key(delayed_key(stream, configured))


def bodies_key(queue: str) -> str:
    """The hash of the bodies of a queue's messages."""
    return f"{queue}:jobs"


def attempts_key(stream: str, group: str) -> str:
    """The hash of starts of a group's entries that were delivered before."""
    return f"{tag_of(stream)}:attempts:{encoded_part(group)}"


def moved_key(stream: str, ident: str) -> str:
    """The marker that an entry was moved to ``stream`` from another slot."""
    return f"{tag_of(stream)}:moved:{ident}"


def payload_key(stream: str, ident: str) -> str:
    """A payload that is kept beside the stream."""
    return f"{tag_of(stream)}{StreamPart.PAYLOADS}{ident}"


def replayed_key(stream: str) -> str:
    """The sorted set of entries that a replay added again: ``ID ORIGIN_ID`` by milliseconds, kept for seven days."""
    return f"{tag_of(stream)}:replayed"


def undo_key(stream: str, action: str) -> str:
    """The hash of rows that an action has changed, as they were, until the audit log has them."""
    return f"{tag_of(stream)}{UNDO_INFIX}{action}"


def is_undo_key(key: str) -> bool:
    """Whether a key is one that ``undo_key`` makes."""
    return UNDO_INFIX in key


def done_key(stream: str, group: str, key: str) -> str:
    """The guard of one business key, which a group has dealt with."""
    return f"{done_prefix(stream, group)}{encoded_part(key)}"


def done_prefix(stream: str, group: str) -> str:
    """What the guards of a group begin with; the encoded business key follows."""
    return f"{tag_of(stream)}:done:{encoded_part(group)}:"


def unhandled_key(stream: str, group: str) -> str:
    """The sorted set of entries that were never handled, so that their business keys are free. No guard has such a name."""
    return f"{done_prefix(stream, group)}:unhandled"


def owner_key(prefix: str, origin_id: str) -> str:
    """Under which ID the owner of business keys is pending, if it was not born with that. No guard has such a name."""
    return f"{prefix}:at:{origin_id}"


def worker_key(worker_id: str) -> str:
    """The heartbeat of one worker process."""
    return f"streamops:worker:{worker_id}"


def pool_key(name: str) -> str:
    """What a pool of workers is to be."""
    return f"streamops:pool:{name}"


POOLS: Final = "streamops:pools"
"""The hash of pools that have a controller or supervisors: what was last heard of each, by name."""


def worker_registry_key(pool: str) -> str:
    """The hash of a pool's workers: what each last said of itself."""
    return f"streamops:roster:{pool}"


def supervisors_key(pool: str) -> str:
    """The hash of supervisors that run as many workers of a pool as they are told."""
    return f"streamops:supervisors:{pool}"


def decisions_key(pool: str) -> str:
    """The stream of decisions about a pool."""
    return f"streamops:decisions:{pool}"


def learned_key(pool: str) -> str:
    """What a pool's controller has learned, for the one that takes over."""
    return f"streamops:learned:{pool}"


def encoded_part(name: str) -> str:
    """A group's name or a business key as a part of a key's name: percent-encoded where it must be."""
    return name.replace("%", "%25").replace(":", "%3A")


def decoded_part(part: str) -> str:
    """What ``encoded_part`` made the part of; what it never makes stays as it stands."""
    return part.replace("%3A", ":").replace("%25", "%")


def slot_of(key: str) -> int:
    """The hash slot of a key, whose name may be any bytes."""
    return key_slot(name_bytes(key))


def same_slot(*keys: str) -> bool:
    """Whether one script may touch all of these keys on a cluster."""
    return len({slot_of(key) for key in keys}) <= 1


def require_one_slot(mode: Mode, stream: str, *beside: str) -> None:
    """Require that a script can touch a stream and the keys beside it; always so if there is no cluster.

    Args:
        mode: How the server is reached: ``server.options.mode``.
        stream: The stream.
        beside: Keys made of its name; without any, its tag itself is tried.

    Raises:
        Forbidden: They have different slots.
    """
    if mode is not Mode.CLUSTER or same_slot(stream, *(beside or (tag_of(stream),))):
        return
    if same_slot(stream, tag_of(stream)):
        raise Forbidden(
            f"stream {stream}: {', '.join(beside)} cannot change together with it on a cluster",
            f"Their hash slots differ; names that begin with {tag_of(stream)} share its slot.",
        )
    raise Forbidden(
        f"stream {stream}: no key can be made in its hash slot",
        "On a cluster, braces in a name must enclose a hash tag: {orders}, or {shop}:orders.",
    )
