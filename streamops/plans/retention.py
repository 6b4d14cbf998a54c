"""Which trims the retention policies of a configuration ask for."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from streamops.analysis.globs import is_literal, matches
from streamops.model.acts.trim import TrimIntent
from streamops.model.retention import RetentionPolicy


class Candidate(Struct, frozen=True):
    """A stream that a policy may be about.

    Attributes:
        name: Its name.
        set_aside: Whether only its exact name means it: dead letters, retries, the audit log.
    """

    name: str
    set_aside: bool


def plan_retention(
    policies: Sequence[RetentionPolicy], streams: Iterable[Candidate]
) -> tuple[TrimIntent, ...]:
    """The trims to make, stream by stream in their order; two for a stream whose policy has two bounds."""
    return tuple(
        intent
        for stream in streams
        for intent in _intents(next((one for one in policies if _covers(one, stream)), None), stream.name)
    )


def _covers(policy: RetentionPolicy, stream: Candidate) -> bool:
    if stream.set_aside:
        return any(is_literal(pattern) and pattern == stream.name for pattern in policy.streams)
    return any(matches(pattern, stream.name) for pattern in policy.streams)


def _intents(policy: RetentionPolicy | None, stream: str) -> Iterable[TrimIntent]:
    if policy is None:
        return
    if policy.maxlen is not None:
        yield TrimIntent(stream=stream, maxlen=policy.maxlen, exact=policy.exact)
    if policy.max_age is not None:
        yield TrimIntent(stream=stream, before=policy.max_age, exact=policy.exact)
