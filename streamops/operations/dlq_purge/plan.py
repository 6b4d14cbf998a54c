"""Purging dead letters: what the server says about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.dead_letters import DeadLetter
from streamops.model.selections import SelectedLetters
from streamops.model.wording import counted
from streamops.operations.commands import equivalent_command
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.planning import (
    absent_ids,
    fingerprint,
    letter_counts,
    letter_line,
    queue_warnings,
    sample,
)


class PurgeEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a purge.

    Attributes:
        identity: Which queue this is.
        letters: Which letters are meant.
        sample: The first few of them.
    """

    identity: Identity
    letters: SelectedLetters
    sample: tuple[DeadLetter, ...] = ()


def plan_purge(intent: PurgeIntent, evidence: PurgeEvidence) -> Plan:
    """Delete letters for good."""
    letters = evidence.letters
    some = counted(letters.count, "letter", "letters")
    return Plan(
        operation="dlq.purge",
        target=intent.queue,
        impact=Impact.DESTRUCTIVE,
        count=letters.count,
        unit=("letter", "letters"),
        sample=sample(map(letter_line, evidence.sample)),
        effects=tuple(_effects(intent, evidence)) if letters.count else (),
        loses=f"{some} of {letters.length:,} in the queue, for good." if letters.count else "",
        command=equivalent_command("dlq.purge", intent),
        confirm=intent.queue,
        warnings=(*absent_ids(letters), *(queue_warnings(letters) if letters.count else ())),
        fingerprint=fingerprint(letters.count, letters.after, letters.last, letters.length),
    )


def _effects(intent: PurgeIntent, evidence: PurgeEvidence) -> Iterator[str]:
    yield from letter_counts(evidence.letters)
    if intent.backup is not None:
        yield f"Each is written to {intent.backup} before it is deleted; `streamops restore` reads that file."
    if evidence.letters.count < evidence.letters.length:
        yield f"{counted(evidence.letters.length - evidence.letters.count, 'letter stays', 'letters stay')}."
