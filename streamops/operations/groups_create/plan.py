"""Creating a consumer group: what the server says about its stream, and the plan."""

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import Amount
from streamops.model.ids import EntryId
from streamops.model.wording import command, first_few
from streamops.operations.commands import equivalent_command
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.planning import GROUP_UNIT, amount, entries_counted, fingerprint


class CreateGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream this is; none where there is none.
        length: Entries in the stream.
        position: Where the group would stand; ``$`` as it was then.
        existing: Where a group of that name stands already; none where there is none.
        ahead: How many entries it would be given.
        entries_read: The server's counter that goes with the position; none where it has none, or it is not known.
        other_groups: The stream's groups.
    """

    identity: Identity | None = None
    length: int = 0
    position: EntryId
    existing: EntryId | None = None
    ahead: Amount = Amount(0, 0)
    entries_read: int | None = None
    other_groups: tuple[str, ...] = ()


def plan_create_group(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> Plan:
    """Create a group; nothing where it stands there already. Raises ``Forbidden`` where it stands elsewhere."""
    name = f"{intent.stream}/{intent.group}"
    if evidence.existing is not None:
        _forbid_elsewhere(intent, evidence)
        effects = [f"Group {intent.group} exists already, at {evidence.existing}; nothing is done."]
    else:
        effects = _effects_of_creating(intent, evidence)
    return Plan(
        operation="groups.create",
        target=name,
        impact=Impact.REVERSIBLE,
        count=0 if evidence.existing is not None else 1,
        unit=GROUP_UNIT,
        effects=tuple(effects),
        opposite=""
        if evidence.existing is not None
        else command("groups destroy", intent.stream, intent.group),
        command=equivalent_command("groups.create", intent),
        confirm=intent.group,
        fingerprint=fingerprint(
            evidence.identity is None, evidence.position, evidence.existing, evidence.length
        ),
    )


def _forbid_elsewhere(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> None:
    if evidence.existing != evidence.position:
        raise Forbidden(
            f"group {intent.stream}/{intent.group} exists already, at {evidence.existing}",
            f"Move it with `{command('groups rewind', intent.stream, intent.group)}`, or choose another name.",
        )


def _effects_of_creating(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> list[str]:
    effects = []
    if evidence.identity is None:
        effects.append(f"Stream {intent.stream} is created, empty, and the group in it.")
    if intent.at == "$":
        end = "" if evidence.identity is None else f" (the stream ends at {evidence.position})"
        effects.append(f"The group is given what is added from now on{end}.")
        if evidence.length:
            effects.append(
                f"It is not given {entries_counted(Amount(evidence.length, evidence.length))} that are there."
            )
    else:
        effects.append(
            f"The group begins after {evidence.position}: {amount(evidence.ahead)} will be given to it."
        )
    if evidence.other_groups:
        effects.append(f"Other groups ({first_few(evidence.other_groups)}) are not touched.")
    return effects
