"""How much of which streams is kept."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct

from streamops.model.acting import Outcome, Plan
from streamops.model.config_keys import setting
from streamops.model.name_patterns import is_literal, matches


class RetentionPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[retention]]``: how much is kept of some streams; where both bounds are given, what either drops.

    It is always kept to safely: nothing goes that a group has yet to read or acknowledge. ``ValueError`` where it
    names no stream or no bound; msgspec turns that into its own error.
    """

    streams: Annotated[
        tuple[str, ...],
        setting(
            "patterns of streams; the first policy that matches counts; dead-letter queues, retry streams"
            " and the audit log match by their exact names only",
            ("orders:*",),
        ),
    ]
    maxlen: Annotated[
        Annotated[int, Meta(ge=0)] | None, setting("keep this many entries, the newest", 1_000_000)
    ] = None
    max_age: Annotated[
        timedelta | None,
        setting("remove older entries; with both bounds, what either removes", timedelta(days=7)),
    ] = None
    exact: Annotated[
        bool,
        setting(
            "remove exactly up to the bound; default: whole nodes of the stream only (~), which is cheaper"
        ),
    ] = False

    def __post_init__(self) -> None:
        if not self.streams or not all(self.streams):
            raise ValueError("names no stream, or an empty one")
        if self.maxlen is None and self.max_age is None:
            raise ValueError("says neither maxlen nor max_age")


class RetentionRow(Struct, frozen=True, kw_only=True):
    """What a policy comes to for one stream, and what became of it.

    Attributes:
        stream: The stream.
        bound: What is asked for, as the command line has it.
        plan: The trim; None if it could not be planned.
        outcome: What became of it; None if it was not applied.
        problem: Why it could not be planned or applied; empty if it could.
        kept_for: Why all of it is kept if there is no plan: it is not known what is still needed.
    """

    stream: str
    bound: str
    plan: Plan | None = None
    outcome: Outcome | None = None
    problem: str = ""
    kept_for: str = ""

    @property
    def held_back_by(self) -> str:
        """What keeps it from being trimmed to its bound; empty if nothing does."""
        return self.plan.held_back_by if self.plan else self.kept_for

    @property
    def removable(self) -> int:
        """Entries that the plan counts."""
        return self.plan.count if self.plan else 0

    @property
    def removed(self) -> int | None:
        """Entries removed; None if nothing was tried."""
        return self.outcome.applied if self.outcome else None


class RetentionCandidate(Struct, frozen=True):
    """A stream that a policy may be about.

    Attributes:
        name: Its name.
        set_aside: Whether only its exact name means it: dead letters, retries, the audit log.
    """

    name: str
    set_aside: bool


def policy_of(policies: Sequence[RetentionPolicy], stream: RetentionCandidate) -> RetentionPolicy | None:
    """The first policy that covers a stream; None if none does."""
    return next((policy for policy in policies if _covers(policy, stream)), None)


def _covers(policy: RetentionPolicy, stream: RetentionCandidate) -> bool:
    if stream.set_aside:
        return any(is_literal(pattern) and pattern == stream.name for pattern in policy.streams)
    return any(matches(pattern, stream.name) for pattern in policy.streams)
