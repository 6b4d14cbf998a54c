"""Purging dead letters: what the server says about them, and the plan."""

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.dead_letters import DeadLetter
from streamops.model.effects import DEAD_LETTERS_LOST, DEAD_LETTERS_STAY, NOT_IN_QUEUE
from streamops.model.selections import SelectedDeadLetters
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.planning import (
    DEAD_LETTER_UNIT,
    dead_letter_counts,
    dead_letter_line,
    planned,
    queue_warnings,
)


class PurgeEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a purge.

    Attributes:
        identity: Which queue this is.
        letters: Which letters are meant.
        sample: The first few of them.
    """

    identity: StreamIdentity
    letters: SelectedDeadLetters
    sample: tuple[DeadLetter, ...] = ()


def plan_purge(intent: PurgeIntent, evidence: PurgeEvidence) -> Plan:
    """Delete letters for good."""
    letters, backup = evidence.letters, intent.backup
    count = letters.count
    return planned(
        intent,
        count,
        unit=DEAD_LETTER_UNIT,
        sample=map(dead_letter_line, evidence.sample),
        effects=[
            dead_letter_counts(letters),
            backup
            and f"Each is written to {backup} before it is deleted; `streamops restore` reads that file.",
            DEAD_LETTERS_STAY(letters.length - count),
        ]
        if count
        else (),
        loses=[DEAD_LETTERS_LOST(count, f"{letters.length:,}")],
        warnings=[NOT_IN_QUEUE(letters.absent), *(queue_warnings(letters) if count else ())],
    )
