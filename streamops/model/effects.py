"""What a plan does, as facts: which group, how many, lost or kept and why; and the one sentence that says each.

A row is a kind of fact with its sentence. Calling it makes the fact; a fact of nothing is none, so that a planner lists
what may happen, and what does not is left out.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

from streamops.model.entries import Amount
from streamops.model.wording import counted, first_few


class EffectKind(StrEnum):
    """What becomes of what is counted."""

    ACKNOWLEDGED = "acknowledged"
    ADDED = "added"
    CREATED = "created"
    HELD_BACK = "held_back"
    KEPT = "kept"
    LOST = "lost"
    MOVED = "moved"
    REDELIVERED = "redelivered"
    REMOVED = "removed"
    RESIZED = "resized"
    SELECTED = "selected"
    SKIPPED = "skipped"
    UNDELIVERED = "undelivered"


Names = tuple[str | tuple[str, int], ...]
"""Names, or names with how many are theirs."""


class Effect(Struct, frozen=True, omit_defaults=True):
    """One fact of a plan.

    Attributes:
        kind: What becomes of what is counted.
        reason: Which of them, or why, in a word.
        count: How many, at least and at most; None if that is not known, or nothing is counted.
        open_ended: Whether there may be more than was counted.
        group: The group that it concerns; empty if it is none, or several.
        names: Owners, groups or streams that it concerns, with how many are theirs if that is known.
        words: What else its sentence says.
    """

    kind: EffectKind
    reason: str
    count: Amount | None = None
    open_ended: bool = False
    group: str = ""
    names: Names = ()
    words: tuple[str, ...] = ()


class EffectRow(Struct, frozen=True):
    """A kind of fact.

    Attributes:
        kind: What becomes of what is counted.
        reason: Which of them, or why.
        sentence: How it is said, see ``say``; empty for a fact that another one's sentence says too.
        always: Whether it is said of none at all, too.
        begins: How its sentence begins; facts one after the other that begin alike are one sentence.
    """

    kind: EffectKind
    reason: str
    sentence: str = ""
    always: bool = False
    begins: str = ""

    def __call__(
        self,
        count: Amount | int | None = None,
        *words: object,
        group: str = "",
        names: Iterable[str | tuple[str, int]] = (),
        open_ended: bool = False,
    ) -> Effect | None:
        """The fact; None if nothing is counted."""
        amount = Amount(count, count) if isinstance(count, int) else count
        if amount is not None and not amount.upper and not self.always:
            return None
        told = tuple(map(str, words))
        return Effect(self.kind, self.reason, amount, open_ended, group, tuple(names), told)


Said = Effect | str | Literal[False, 0] | None
"""A fact, or a sentence of one operation alone; whatever is false is left out."""


def say(effect: Effect) -> str:
    """The sentence of a fact.

    A row's sentence is a format of ``count``, ``group``, ``names`` and the other words by their numbers. ``{count:ID
    is|IDs are}`` is the number with the noun that fits it, ``{count:=it|them}`` that noun alone, ``{count:most}`` what
    it is at most; ``{names:group|groups}`` goes before the names, ``{names:pairs}`` writes ``a 1, b 2``, ``{names:of}`` counts
    them, and ``{names:sample}`` are the first of those counted.
    """
    begins, rest = _said(effect)
    return begins + rest


def sentences(said: Iterable[Said]) -> tuple[str, ...]:
    """What is said, a sentence each; facts that begin alike are one."""
    told: list[str] = []
    before = ""
    for one in filter(None, said):
        begins, rest = _said(one) if isinstance(one, Effect) else ("", str(one))
        if begins and begins == before:
            told[-1] = f"{told[-1].removesuffix('.')} and {rest}"
        elif begins or rest:
            told.append(begins + rest)
        before = begins
    return tuple(told)


def _said(effect: Effect) -> tuple[str, str]:
    row = ROWS[effect.kind, effect.reason]
    count, names = _Count(effect.count, open_ended=effect.open_ended), _Names(effect.names, effect.count)
    rest = row.sentence.format(*effect.words, count=count, names=names, group=effect.group)
    begins = row.begins.format(group=effect.group)
    return begins, rest[:1].upper() + rest[1:] if row.sentence.startswith("{count") and not begins else rest


class _Count:
    def __init__(self, amount: Amount | None, *, open_ended: bool) -> None:
        self._amount, self._open = amount or Amount(0, 0), open_ended

    def __format__(self, spec: str) -> str:
        amount = self._amount
        if spec.startswith("="):
            return spec[1:].split("|")[amount.upper != 1]
        if spec.startswith("most"):
            more = "" if amount.exact else f" (at least {amount.lower:,} could be counted)"
            return _noun(amount.upper, spec[5:]) + more
        return in_words(amount, spec, open_ended=self._open)


class _Names:
    def __init__(self, names: Names, total: Amount | None) -> None:
        self._names, self._total = names, total

    def __format__(self, spec: str) -> str:
        names = self._names
        if spec.startswith("of "):
            return counted(len(names), *spec[3:].split("|"))
        if spec == "sample" and self._total and (more := self._total.upper - len(names)) > 0:
            return f"{', '.join(map(str, names))} and {more:,} more"
        alone = len(names) == 1
        pair = "{} {:,}" if spec == "pairs" else "{}" if alone else "{} ({:,})"
        listed = first_few([one if isinstance(one, str) else pair.format(*one) for one in names])
        return f"{spec.split('|')[not alone]} {listed}" if "|" in spec else listed


def in_words(amount: Amount, noun: str = "", *, open_ended: bool = False) -> str:
    """``1,200 entries``, of ``entry|entries``; if they were not all counted, how many there are at least and at most."""
    if amount.exact and not open_ended:
        return _noun(amount.upper, noun)
    if not (amount.lower or open_ended):
        return f"up to {_noun(amount.upper, noun)}"
    at_most = "" if amount.exact or open_ended else f" (at most {amount.upper:,})"
    return f"at least {_noun(amount.lower, noun)}{at_most}"


def _noun(number: int, noun: str) -> str:
    one, _, many = noun.partition("|")
    return counted(number, one, many) if noun else f"{number:,}"


_K: Final = EffectKind
_LOSES: Final = "Group {group} loses "

# Groups that have nothing to do with it, and what is created.
UNTOUCHED: Final = EffectRow(_K.KEPT, "other-groups", "Other groups ({names}) are not affected.")
STREAM_CREATED: Final = EffectRow(_K.CREATED, "stream", "Stream {0} {1}.")

# Entries of a group.
ACKNOWLEDGED: Final = EffectRow(
    _K.ACKNOWLEDGED,
    "pending",
    "{count:entry|entries} will count as processed by group {group}, and not be delivered to {names:consumer|consumers} again.",
)
CLAIMED: Final = EffectRow(_K.MOVED, "claimed", "{count:entry|entries} of {names} will be owned by {0}.")
HANDED_OVER: Final = EffectRow(
    _K.MOVED,
    "handed-over",
    "{count:pending entry is|pending entries are} handed to {0}; idle times and delivery counts stay.",
)
GIVEN_BACK: Final = EffectRow(
    _K.MOVED,
    "given-back",
    "{count:entry|entries} will be free for any consumer: the idle time is set to 30 days, and the next "
    "consumer that reclaims (XAUTOCLAIM, XCLAIM with a minimum idle time) gets {count:=it|them}; one "
    "that only reads does not. Until then {count:=its|their} owner stays.",
)
TAKEN_BACK: Final = EffectRow(_K.MOVED, "restored", "Undoes {0}: {count:entry|entries} of {names}.")
MISSING: Final = EffectRow(
    _K.KEPT,
    "missing",
    "No longer in the stream, though pending: {names:sample}; acknowledging them removes them.{0}",
)
GIVEN: Final = EffectRow(
    _K.REDELIVERED,
    "ahead",
    "The group starts after {0}: {count:entry|entries} will be delivered to it.",
    always=True,
)
NOT_GIVEN: Final = EffectRow(
    _K.UNDELIVERED,
    "before",
    "It will not get {count:entry|entries} that {count:=is|are} in the stream already.",
)
REDELIVERED: Final = EffectRow(
    _K.REDELIVERED, "rewound", "{count:entry|entries} will be delivered again to its consumers."
)
PASSED_OVER: Final = EffectRow(
    _K.UNDELIVERED,
    "forwarded",
    "{count:entry|entries} will never be delivered to it; they stay in the stream.",
)
STILL_PENDING: Final = EffectRow(
    _K.REDELIVERED,
    "pending",
    "{count:of them is|of them are} still pending: the next consumer to read takes them from {names}, "
    "and their delivery count restarts at 1.",
)

# Consumers and groups that go.
IDLE_REMOVED: Final = EffectRow(
    _K.REMOVED,
    "idle-consumers",
    "{count:consumer|consumers} of group {group}, idle for {0} and with nothing pending, will be removed; "
    "each is checked again in the step that removes it.",
)
CONSUMER_REMOVED: Final = EffectRow(
    _K.REMOVED,
    "consumer",
    "Consumer {0} is removed, in one step that checks that it has nothing pending.",
)
KEPT_PENDING: Final = EffectRow(
    _K.KEPT,
    "pending",
    "Kept, because they have pending entries: {names}. `streamops consumers rm --to` moves those entries.",
)
KEPT_ACTIVE: Final = EffectRow(
    _K.KEPT, "active", "{count:consumer is|consumers are} kept, idle for a shorter time."
)
GROUP_REMOVED: Final = EffectRow(
    _K.REMOVED,
    "group",
    "Group {group} is removed, with its position {0} and {count:consumer|consumers}. The stream's entries stay.",
    always=True,
)
PENDING_LOST: Final = EffectRow(
    _K.LOST, "not-redelivered", "{count:pending entry|pending entries} that will not be redelivered."
)
UNGIVEN_LOST: Final = EffectRow(
    _K.LOST, "not-given", "The delivery of {count:entry|entries} to this group; they stay in the stream."
)
ROWS_LOST: Final = EffectRow(
    _K.LOST, "missing", "{count:pending row|pending rows} of entries that no longer exist."
)

# Entries that go, and what groups lose with them.
OLDEST_GO: Final = EffectRow(_K.REMOVED, "oldest", "The oldest {0}{count:most} of {1} are removed.{2}")
NODES_GO: Final = EffectRow(
    _K.REMOVED,
    "oldest-nodes",
    "The oldest are removed, at most {count:most} of {0}, in whole nodes of the stream.{1}",
)
NONE_GOES: Final = EffectRow(
    _K.KEPT, "needed", "None of {count:entry|entries} can be removed yet.", always=True
)
ALL_STAY: Final = EffectRow(
    _K.KEPT, "within-bound", "The limit keeps all of {count:entry|entries}.", always=True
)
HELD_BY_PENDING: Final = EffectRow(_K.HELD_BACK, "pending", "group {group}: {0} is pending {1}")
HELD_BY_UNREAD: Final = EffectRow(
    _K.HELD_BACK, "unread", "group {group} has yet to read {count:entry|entries}"
)
LOSES_UNREAD: Final = EffectRow(
    _K.LOST, "unread", "{count:entry|entries} that it has yet to read.", begins=_LOSES
)
LOSES_PENDING: Final = EffectRow(
    _K.LOST, "pending", "{count:pending entry|pending entries} ({names:pairs}).", begins=_LOSES
)
LOSES_NOTHING: Final = EffectRow(_K.KEPT, "all", "Group {group} loses nothing.")
UNNEEDED_GO: Final = EffectRow(_K.REMOVED, "unneeded", "The entries themselves, which no group needs.")
CAP_LOST: Final = EffectRow(
    _K.LOST, "cap", "At most {count:most entry|entries} at the stream's beginning, {0}."
)
FOR_GOOD: Final = EffectRow(_K.LOST, "entries", "{count:entry|entries}{0}.")
DANGLING: Final = EffectRow(
    _K.KEPT,
    "dangling",
    "{count:pending row that points|pending rows that point} to nothing will be left: consumers get "
    "them without fields until they are acknowledged.{0}",
)
DELETED: Final = EffectRow(
    _K.REMOVED, "entries", "{count:entry is|entries are} deleted for all groups, by {0}."
)
NEVER_GETS: Final = EffectRow(
    _K.LOST,
    "unread-deleted",
    "never gets {count:entry|entries} that it has yet to read.",
    begins="Group {group} ",
)
KEEPS_DANGLING: Final = EffectRow(
    _K.KEPT,
    "dangling-by-group",
    "keeps {count:pending row that points|pending rows that point} to nothing ({names:pairs}).",
    begins="Group {group} ",
)
ROWS_DELETED: Final = EffectRow(
    _K.LOST,
    "pending-deleted",
    "loses {count:pending entry|pending entries} ({names:pairs}).",
    begins="Group {group} ",
)
ALL_READ: Final = EffectRow(
    _K.KEPT,
    "acknowledged",
    "{count:group has|groups have} read and acknowledged all of them.",
)

# What is left out of a selection.
NOT_PENDING: Final = EffectRow(
    _K.SKIPPED,
    "not-pending",
    "{count:ID is|IDs are} not pending in this group (acknowledged, or not delivered to it yet), and will be left out.",
)
ELSEWHERE: Final = EffectRow(
    _K.SKIPPED,
    "owned-elsewhere",
    "{count:ID is|IDs are} not owned by the consumer to take from, and will be left out.",
)
BUSY: Final = EffectRow(
    _K.SKIPPED, "busy", "{count:ID is|IDs are} not idle for long enough, and will be left out."
)
NOT_IN_QUEUE: Final = EffectRow(
    _K.SKIPPED, "not-in-queue", "{count:ID is|IDs are} not in the queue, and will be left out."
)
NO_ENTRY: Final = EffectRow(
    _K.SKIPPED,
    "no-entry",
    "{count:ID is no entry|IDs are no entries} of the stream, and will be left out.",
)
WHY_REFUSED: Final = {
    "gone": "no longer pending",
    "owner": "owned by another consumer by now",
    "delivered": "delivered or claimed again since",
    "missing": "its entry no longer exists",
    "same": "already as it was before",
}
"""Why a row cannot be given back what it had."""
UNRESTORABLE: Final = {
    why: EffectRow(
        _K.SKIPPED, why, f"{{count:entry|entries}} cannot be restored and will be left alone: {words}.{{0}}"
    )
    for why, words in WHY_REFUSED.items()
}

# Dead letters.
REASONS: Final = EffectRow(_K.SELECTED, "reasons", "Reasons{0}: {names:pairs}.")
DEAD_LETTERS_LOST: Final = EffectRow(
    _K.LOST, "dead-letters", "{count:dead letter|dead letters} of {0} in the queue, for good."
)
DEAD_LETTERS_STAY: Final = EffectRow(_K.KEPT, "dead-letters", "{count:dead letter stays|dead letters stay}.")
LAG_UNKNOWN: Final = EffectRow(
    _K.LOST,
    "lag",
    "Group {group}{0} reads the queue itself: once dead letters leave it, its lag may be unknown.",
    always=True,
)
REPUBLISHED: Final = EffectRow(
    _K.ADDED,
    "republished",
    "Entries are added to stream {0}, with new IDs and their own fields in order; {1}: {names}.",
)
REPUBLISHED_UNREAD: Final = EffectRow(
    _K.ADDED,
    "republished-unread",
    "Entries are added to stream {0}, with new IDs and their own fields in order; no group reads it yet.",
)
PENDING_AGAIN: Final = EffectRow(
    _K.REDELIVERED,
    "pending-again",
    "Entries of stream {0} become pending again for group {group}, owned by __replay__ and idle for 30 days: the first of "
    "its consumers that claims (XAUTOCLAIM) gets them.",
)
REDELIVERABLE: Final = EffectRow(
    _K.REDELIVERED,
    "redeliverable",
    "{count} of {0} can be redelivered.",
    always=True,
)
NOT_REDELIVERABLE: Final = {
    why: EffectRow(
        _K.SKIPPED,
        why,
        f"{{count:dead letter|dead letters}} cannot be redelivered: {words}. Left in the queue: {{names:sample}}.{{0}}",
    )
    for why, words in {
        "entry-gone": "the entry is no longer in the stream",
        "entry-unknown": "the dead letter does not name its entry's ID",
        "entry-unread": "the group has yet to read the entry",
        "entry-pending": "the entry is pending already",
    }.items()
}
"""Why a dead letter cannot be redelivered."""
RETRIED: Final = EffectRow(
    _K.REDELIVERED,
    "retried",
    "Entries are added to {0}, which streamops workers of group {group} read, and no other client.",
)
RETRIES_UNREAD: Final = EffectRow(
    _K.UNDELIVERED,
    "nobody-reads",
    "Nothing reads {0} now: group {group} has no live consumer there, so the entries wait. Run the group's streamops "
    "workers (`streamops run MODULE:APP`); where other clients consume, use --mode redeliver or republish.",
)
PAYLOADS: Final = EffectRow(
    _K.KEPT,
    "payloads",
    "{count:dead letter refers|dead letters refer} to a payload stored outside the stream: it must still "
    "exist, and is kept for 7 "
    "days from then.",
)
FOREIGN_ADDED: Final = EffectRow(
    _K.ADDED,
    "foreign-origin",
    "{count:dead letter names|dead letters name} stream {0}, which is not the queue's own: added there, "
    "by --foreign-origins.",
)
FOREIGN_LEFT: Final = EffectRow(
    _K.SKIPPED,
    "foreign-origin",
    "{count:dead letter names|dead letters name} stream {0}, which {1}: left in the queue{2}.",
)
STRAY: Final = EffectRow(
    _K.SKIPPED,
    "no-such-target",
    "{count:dead letter is|dead letters are} of a stream or group that does not exist: skipped.",
)
UNCOUNTED: Final = EffectRow(
    _K.SKIPPED,
    "uncounted",
    "Streams and groups are those of the first {0} dead letters; dead letters of others are skipped.",
)

# Delayed messages.
DUE_NOW: Final = EffectRow(
    _K.MOVED, "due-now", "{count:message|messages} will be added to {names} and removed from the queue."
)
CANCELLED: Final = EffectRow(
    _K.REMOVED,
    "delayed",
    "{count:message|messages} will never be delivered; {0} will stay in the queue of {1}.",
)
STILL_DELAYED: Final = EffectRow(_K.KEPT, "delayed")
RETRIES_LOST: Final = EffectRow(
    _K.LOST,
    "retries",
    "{count:of them is a retry|of them are retries}: the group that failed will not get its entry again.",
)
MESSAGES_LOST: Final = EffectRow(_K.LOST, "delayed", "{count:message|messages}{0}.")
NOT_OURS: Final = EffectRow(
    _K.SKIPPED,
    "foreign",
    "{count:member|members} of {0} that streamops did not write, such as {names}, will stay: no command touches them.",
)
BROKEN: Final = EffectRow(
    _K.SKIPPED,
    "broken",
    "{count:message|messages} cannot become entries and will be left out, such as {names}: {0}.",
)

# Entries that are added.
PUBLISHED: Final = EffectRow(
    _K.ADDED, "published", "One entry will be added to {0}; {names:of group|groups} will get it."
)
RESTORED: Final = EffectRow(_K.ADDED, "restored", "{count:entry is|entries are} added to stream {0}, {1}.")
RESTORED_BEFORE: Final = EffectRow(
    _K.SKIPPED,
    "restored-before",
    "{count} of the file's {0} were restored before: it continues there.",
)
GIVEN_TO_ALL: Final = EffectRow(_K.ADDED, "groups", "Delivered to all of its groups ({names}).")
TAKEN_OUT: Final = EffectRow(
    _K.SKIPPED,
    "not-deleted",
    "{count:entry of the file was|entries of the file were} not deleted, as the file says, and will be left out.",
)
TOO_WIDE: Final = EffectRow(
    _K.SKIPPED,
    "too-wide",
    "{count:entry has|entries have} more fields than the server's scripts can add, and will fail.",
)

# Stale pending entries.
HANDLED_AGAIN: Final = EffectRow(
    _K.REDELIVERED,
    "stale",
    "Those delivered less than {0} times (now {count}) are delivered again: {1}",
    always=True,
)
DEAD_LETTERED: Final = EffectRow(
    _K.MOVED,
    "dead-lettered",
    "Those delivered {0} times or more (now {count}) are dead-lettered to {1} with the reason max-deliveries. "
    "The server counts deliveries: an entry that a worker had only read ahead when it died counts too.",
    always=True,
)
DELETED_RECORDED: Final = EffectRow(
    _K.MOVED,
    "payload-missing",
    "Those that were deleted from the stream (now {count}) are recorded in {0}, with the reason payload-missing.",
    always=True,
)
TWICE: Final = EffectRow(
    _K.REDELIVERED, "other-groups", "Other groups get these entries a second time: {names}."
)
WAITING: Final = EffectRow(
    _K.KEPT, "waiting", "{count:entry waits|entries wait} for {0}, which reads nothing."
)

# Pools and topics.
RESIZED: Final = EffectRow(_K.RESIZED, "workers", "{0} to {count:worker|workers}.", always=True)
TOPIC_DELAYED: Final = EffectRow(_K.KEPT, "topic-delayed")
TOPIC_ENTRIES: Final = EffectRow(_K.KEPT, "topic-entries")

ROWS: Final = {
    (row.kind, row.reason): row
    for row in (
        *UNRESTORABLE.values(),
        *NOT_REDELIVERABLE.values(),
        *(one for one in globals().values() if isinstance(one, EffectRow)),
    )
}
