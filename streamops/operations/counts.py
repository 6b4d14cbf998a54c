"""What an operation has done so far."""

from collections.abc import Sequence
from datetime import timedelta

from streamops.model.acting import KEPT, Failed, Outcome, Plan, Skipped


class Tally:
    """Counts what was done, and keeps the first of what was not.

    Attributes:
        applied: Units done.
        skipped: Units left alone.
        failed: Units that could not be done.
    """

    def __init__(self) -> None:
        self.applied = 0
        self.skipped = 0
        self.failed = 0
        self._skips: list[Skipped] = []
        self._failures: list[Failed] = []
        self._notes: list[str] = []

    @property
    def done(self) -> int:
        """Units that were dealt with, one way or another."""
        return self.applied + self.skipped + self.failed

    def add(self, applied: int, skipped: Sequence[Skipped], failed: Sequence[Failed]) -> None:
        """Count a batch."""
        self.applied += applied
        self.skipped += len(skipped)
        self.failed += len(failed)
        self._skips += skipped[: KEPT - len(self._skips)]
        self._failures += failed[: KEPT - len(self._failures)]

    def note(self, text: str) -> None:
        """Remember something that is worth telling at the end; each text once."""
        if text not in self._notes:
            self._notes.append(text)

    def outcome(
        self, plan: Plan, *, elapsed: timedelta, job: str, audit_id: str, stopped: str = ""
    ) -> Outcome:
        """The outcome as it stands."""
        return Outcome(
            operation=plan.operation,
            target=plan.target,
            requested=max(plan.count, self.done) if plan.recurring else plan.count,
            applied=self.applied,
            skipped=tuple(self._skips),
            skipped_count=self.skipped,
            failed=tuple(self._failures),
            failed_count=self.failed,
            notes=tuple(self._notes),
            job=job,
            audit_id=audit_id,
            elapsed=elapsed,
            complete=not stopped,
            stopped=stopped,
        )
