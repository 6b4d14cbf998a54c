"""Creating a consumer group: what the server says about its stream, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import GIVEN, NOT_GIVEN, STREAM_CREATED, Said
from streamops.model.entries import Amount, EntryId
from streamops.model.wording import command
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.planning import GROUP_UNIT, planned, untouched


class CreateGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream this is; None if there is none.
        length: Entries in the stream.
        position: Where the group would stand; ``$`` as it was then.
        existing: Where a group of that name stands already; None if there is none.
        ahead: How many entries it would be given.
        entries_read: The server's counter that goes with the position; None if it has none, or it is not known.
        other_groups: The stream's groups.
    """

    identity: StreamIdentity | None = None
    length: int = 0
    position: EntryId
    existing: EntryId | None = None
    ahead: Amount = Amount(0, 0)
    entries_read: int | None = None
    other_groups: tuple[str, ...] = ()


def plan_create_group(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> Plan:
    """Create a group; nothing if it stands there already. Raises ``Forbidden`` if it stands elsewhere."""
    existing, names = evidence.existing, (intent.stream, intent.group)
    if existing not in {None, evidence.position}:
        raise Forbidden(
            f"group {'/'.join(names)} exists already, at {existing}",
            f"Move it with `{command('groups rewind', *names)}`, or choose another name.",
        )
    return planned(
        intent,
        int(existing is None),
        unit=GROUP_UNIT,
        effects=_effects(intent, evidence)
        if existing is None
        else [f"Group {intent.group} exists already, at {existing}; nothing is done."],
        opposite=command("groups rm", *names) if existing is None else "",
    )


def _effects(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> Iterator[Said]:
    new = evidence.identity is None
    if new:
        yield STREAM_CREATED(1, intent.stream, "is created, empty, and the group in it")
    if intent.at == "$":
        end = "" if new else f" (the stream ends at {evidence.position})"
        yield f"The group is delivered entries added from now on{end}."
        yield NOT_GIVEN(evidence.length, group=intent.group)
    else:
        yield GIVEN(evidence.ahead, evidence.position, group=intent.group)
    yield untouched(evidence.other_groups)
