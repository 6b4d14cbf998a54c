"""Which trims the retention policies of a configuration ask for."""

from collections.abc import Iterable, Sequence

from streamops.model.acts.trim import TrimIntent
from streamops.model.retention import Candidate, RetentionPolicy, policy_of


def plan_retention(
    policies: Sequence[RetentionPolicy], streams: Iterable[Candidate]
) -> tuple[TrimIntent, ...]:
    """The trims to make, stream by stream in their order; two for a stream whose policy has two bounds."""
    return tuple(
        intent for stream in streams for intent in _intents(policy_of(policies, stream), stream.name)
    )


def _intents(policy: RetentionPolicy | None, stream: str) -> Iterable[TrimIntent]:
    if policy is None:
        return
    if policy.maxlen is not None:
        yield TrimIntent(stream=stream, maxlen=policy.maxlen, exact=policy.exact)
    if policy.max_age is not None:
        yield TrimIntent(stream=stream, before=policy.max_age, exact=policy.exact)
