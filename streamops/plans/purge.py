"""Purging dead letters."""

from collections.abc import Iterator

from streamops.model.acting import Plan, Tier
from streamops.model.acts.purge import PurgeEvidence, PurgeIntent
from streamops.model.wording import counted
from streamops.plans.commands import equivalent_command
from streamops.plans.evidence import fingerprint, sample
from streamops.plans.letters import absent_ids, letter_counts, letter_line, queue_warnings


def plan_purge(intent: PurgeIntent, evidence: PurgeEvidence) -> Plan:
    """Delete letters for good."""
    letters = evidence.letters
    some = counted(letters.count, "letter", "letters")
    return Plan(
        operation="dlq.purge",
        target=intent.queue,
        tier=Tier.LOSES,
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
