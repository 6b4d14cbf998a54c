"""Dead letters as rows and documents."""

from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.dead_letters import DeadLetter, QueueSummary
from streamops.model.entries import id_age
from streamops.model.json_text import Json, text_json
from streamops.resources.cells import id_text, seconds
from streamops.resources.documents import fields_json
from streamops.resources.text import safe
from streamops.resources.units import rfc3339


class QueueRow(Struct, frozen=True):
    """A dead-letter queue as a whole."""

    queue: QueueSummary

    @property
    def oldest_age(self) -> timedelta | None:
        """Time since its first letter died; none where there is none, or that cannot be told."""
        queue = self.queue
        return None if queue.oldest_id is None else id_age(queue.oldest_id, queue.now)

    @property
    def newest_age(self) -> timedelta | None:
        """Time since its last letter died."""
        queue = self.queue
        return None if queue.newest_id is None else id_age(queue.newest_id, queue.now)


class DeadLetterRow(Struct, frozen=True):
    """A letter and the server's clock when it was read; none where that may not be asked."""

    letter: DeadLetter
    now: datetime | None

    @property
    def age(self) -> timedelta | None:
        """Time since the entry was dead-lettered, by the dead letter's ID."""
        return id_age(self.letter.id, self.now)


class ReasonRow(Struct, frozen=True):
    """A reason, and how many of the letters looked at died of it."""

    reason: str
    letters: int
    share: float


def reason_rows(queue: QueueSummary) -> tuple[ReasonRow, ...]:
    """One row a reason, the most frequent first."""
    tally = queue.tally
    return tuple(
        ReasonRow(reason, number, number / max(1, tally.letters)) for reason, number in tally.reasons
    )


def reasons_text(queue: QueueSummary) -> str:
    """Reasons with their numbers on one line, ``~`` before them where not all letters were looked at."""
    about = "" if queue.coverage == 1 else "~"
    return ", ".join(f"{safe(reason) or 'none'} {about}{number:,}" for reason, number in queue.tally.reasons)


def queue_row_json(row: QueueRow) -> Json:
    """A queue with everything that is known about it."""
    queue = row.queue
    return {
        "queue": text_json(queue.queue),
        "length": queue.length,
        "source": None if queue.source is None else text_json(queue.source),
        "oldest_id": id_text(queue.oldest_id),
        "oldest_age_seconds": seconds(row.oldest_age),
        "newest_id": id_text(queue.newest_id),
        "newest_age_seconds": seconds(row.newest_age),
        "reasons": [
            {"reason": text_json(reason), "letters": number} for reason, number in queue.tally.reasons
        ],
        "reasons_coverage": round(queue.coverage, 4),
    }


def dead_letter_json(row: DeadLetterRow) -> Json:
    """A letter with everything that it says."""
    letter = row.letter
    return {
        "queue": text_json(letter.queue),
        "id": str(letter.id),
        "age_seconds": seconds(row.age),
        "shape": letter.shape,
        "reason": text_json(letter.reason),
        "error": text_json(letter.error),
        "group": None if letter.group is None else text_json(letter.group),
        "consumer": None if letter.consumer is None else text_json(letter.consumer),
        "deliveries": letter.deliveries,
        "attempt": letter.attempt,
        "replays": letter.replays,
        "origin": None if letter.origin is None else text_json(letter.origin),
        "origin_id": id_text(letter.origin_id),
        "failed_at": None if letter.failed_at is None else rfc3339(letter.failed_at),
        "payload_key": None if letter.payload_key is None else text_json(letter.payload_key),
        "problem": letter.problem,
        **fields_json(letter.fields),
    }
