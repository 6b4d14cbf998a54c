"""Applying the retention policies of a configuration: a safe trim of each stream that one covers."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ApplyError, StreamopsError
from streamops.model.acting import Confirmation, Limits, Outcome
from streamops.model.retention import RetentionCandidate, RetentionPolicy, RetentionRow, policy_of
from streamops.model.streams import StreamRole
from streamops.operations.console import Console
from streamops.operations.engine import OnProgress
from streamops.operations.operation import Prepared
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.plan import NoGroup, bound_options
from streamops.wire.keys import stream_role
from streamops.wire.writes.audit import AUDIT


def plan_retention(
    policies: Sequence[RetentionPolicy], streams: Iterable[RetentionCandidate]
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


NOBODY: Final = "no group, so it is unknown which entries are still needed"


class PolicyTrim(Struct, frozen=True):
    """One trim that a policy asks for: planned, or not to be planned.

    Attributes:
        row: What there is to tell of it.
        prepared: The plan with what it was made from; None if there is none.
    """

    row: RetentionRow
    prepared: Prepared[Any, Any] | None = None


async def prepare_retention(
    console: Console, policies: Sequence[RetentionPolicy], limits: Limits
) -> list[PolicyTrim]:
    """Plan what the policies ask for of the streams that the console looks at, writing nothing.

    Raises:
        ServerError: The streams cannot be listed.
    """
    await console.discover()
    streams = [_candidate(console, name) for name in console.discovery.names]
    return [await _prepare(console, intent, limits) for intent in plan_retention(policies, streams)]


async def apply_retention(
    console: Console,
    trims: Sequence[PolicyTrim],
    confirmation: Confirmation,
    progress: OnProgress | None = None,
    stop: asyncio.Event | None = None,
) -> list[RetentionRow]:
    """Trim stream by stream; what became of each. Once it is asked to stop, the rest is left as it was planned."""
    return [
        trim.row
        if stop is not None and stop.is_set()
        else await _apply(console, trim, confirmation, progress, stop)
        for trim in trims
    ]


def _candidate(console: Console, name: str) -> RetentionCandidate:
    role, _ = stream_role(name, console.watch.dead_letters)
    return RetentionCandidate(name, set_aside=role is not StreamRole.EVENTS or name == AUDIT)


async def _prepare(console: Console, intent: TrimIntent, limits: Limits) -> PolicyTrim:
    bound = bound_options(intent)
    try:
        prepared = await console.prepare(intent, limits)
    except NoGroup:
        return PolicyTrim(RetentionRow(stream=intent.stream, bound=bound, kept_for=NOBODY))
    except StreamopsError as error:
        return PolicyTrim(RetentionRow(stream=intent.stream, bound=bound, problem=error.message))
    return PolicyTrim(RetentionRow(stream=intent.stream, bound=bound, plan=prepared.plan), prepared)


async def _apply(
    console: Console,
    trim: PolicyTrim,
    confirmation: Confirmation,
    progress: OnProgress | None,
    stop: asyncio.Event | None,
) -> RetentionRow:
    if trim.prepared is None:
        return trim.row
    try:
        return replace(
            trim.row, outcome=await console.apply(trim.prepared, confirmation, progress, stop=stop)
        )
    except ApplyError as error:
        outcome = error.outcome if isinstance(error.outcome, Outcome) else None
        return replace(trim.row, outcome=outcome, problem=error.message)
    except StreamopsError as error:
        return replace(trim.row, problem=error.message)
