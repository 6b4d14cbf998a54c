"""Taking back what was done to pending rows."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from streamops.model.acting import Plan, Tier
from streamops.model.acts.undo import UndoEvidence, UndoIntent
from streamops.model.wording import counted, first_few
from streamops.plans.commands import equivalent_command
from streamops.plans.evidence import fingerprint, sample

WHY_REFUSED: Final[Mapping[str, str]] = {
    "gone": "not pending any more",
    "owner": "owned by somebody else by now",
    "delivered": "delivered or claimed again since",
    "missing": "its entry no longer exists",
}
"""What the script says of rows that it leaves alone, in words."""


def plan_undo(intent: UndoIntent, evidence: UndoEvidence) -> Plan:
    """Give rows back their owner, their idle time and their deliveries."""
    count = sum(evidence.restorable)
    return Plan(
        operation="undo",
        target=f"{intent.stream}/{intent.group}",
        tier=Tier.REVERSIBLE,
        count=count,
        sample=sample(
            f"{row.id} back to {row.consumer}, delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in evidence.sample
        ),
        effects=tuple(_effects(evidence, count)) if count else (),
        command=equivalent_command("undo", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(evidence)),
        fingerprint=fingerprint(str(intent.audit_id), evidence.restorable),
    )


def _effects(evidence: UndoEvidence, count: int) -> Iterator[str]:
    to = first_few([f"{name} ({number:,})" for name, number in evidence.owners])
    what = f"{evidence.operation} of {_written(evidence.at)} by {evidence.by}"
    yield f"Takes back {what}: {counted(count, 'entry', 'entries')} of {to}."
    yield "They get their owner, their time of last delivery and their deliveries back."
    yield "Those owners will look as if they had been seen just now."


def _warnings(evidence: UndoEvidence) -> Iterator[str]:
    if evidence.refused:
        number = sum(evidence.refused.values())
        reasons = ", ".join(f"{many:,} {WHY_REFUSED[why]}" for why, many in evidence.refused.items())
        first, why = evidence.refused_sample[0]
        yield (
            f"{counted(number, 'entry', 'entries')} cannot be restored and will be left alone: {reasons}. "
            f"The first is {first}: {WHY_REFUSED[why]}."
        )
    if evidence.absent_owners:
        names = first_few(evidence.absent_owners)
        yield f"No consumers of the group any more, and created again: {names}."
    if evidence.recorded < evidence.counted:
        yield _of_unrecorded(evidence)
    if not evidence.ended:
        yield "The action has not come to its end, or was cut off: what it still does is not taken back."


def _of_unrecorded(evidence: UndoEvidence) -> str:
    """What the log does not tell of."""
    told = f"{evidence.recorded:,} of {evidence.counted:,}"
    if evidence.ended:
        return f"{told} entries are on record: the others cannot be restored by this."
    return (
        f"{told} planned entries are on record. Where the action was cut off, some more may have been done of which "
        "there is none: look at what is pending afterwards."
    )


def _written(at: datetime | None) -> str:
    return "unknown time" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"
