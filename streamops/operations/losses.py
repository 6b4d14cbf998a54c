"""What the groups of a stream need of it, and what they would lose, in numbers and in words."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import Amount, PendingEntry
from streamops.model.ids import EntryId
from streamops.model.wording import counted, first_few


class Holder(Struct, frozen=True):
    """The group that needs the oldest entry that any group needs.

    Attributes:
        group: Its name.
        needs: The ID: nothing from there on may go.
        oldest_pending: Its pending entry of that ID; none where the position itself is the bound.
        entry_exists: Whether that pending entry still exists.
        unread: Entries after its position.
    """

    group: str
    needs: EntryId
    oldest_pending: PendingEntry | None
    entry_exists: bool = True
    unread: Amount = Amount(0, 0)


class GroupLoss(Struct, frozen=True):
    """What a group loses by a trim that does not heed it.

    Attributes:
        group: Its name.
        unread: Entries that it has yet to read.
        pending: Pending entries by consumer, the most first.
        pending_complete: Whether all of those were counted; otherwise there are at least so many.
    """

    group: str
    unread: Amount
    pending: tuple[tuple[str, int], ...]
    pending_complete: bool = True

    @property
    def pending_count(self) -> int:
        """Its pending entries that go, as far as they were counted."""
        return sum(count for _, count in self.pending)


class TrimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a stream that is to be trimmed.

    Attributes:
        identity: Which stream this is, and where its groups stand.
        length: Entries in it.
        entry_bytes: Size of the larger of its first and last entry.
        asked: The ID that the bound came to; none for a safe trim by length, which has none.
        wanted: Entries that the bound alone would remove, if groups were not heeded.
        removable: Entries that may go.
        holder: Who needs the oldest entry that is needed; none where nobody was asked, or there is no group.
        losses: What each group loses; of an unsafe trim only.
        references: Whether XTRIM's exact form can be told of pending rows: ``ACKED`` where the trim is safe, else
            ``DELREF``, so that the rows go with their entries.
        lag_goes_wrong: How the server's lag of groups that were overtaken goes wrong, in words; empty where it
            does not.
    """

    identity: Identity
    length: int
    entry_bytes: int
    asked: EntryId | None
    wanted: Amount
    removable: Amount
    holder: Holder | None = None
    losses: tuple[GroupLoss, ...] = ()
    references: bool = False
    lag_goes_wrong: str = ""


ENTRIES: Final = ("entry", "entries")
NAMED: Final = 5
"""Groups and consumers that a sentence names."""


def loss_sentences(losses: tuple[GroupLoss, ...]) -> Iterator[str]:
    """What each group loses, a sentence each; beyond a few of them in one."""
    yield from map(_loss_sentence, losses[:NAMED])
    if more := losses[NAMED:]:
        pending, complete = pending_in(more)
        yield (
            f"{counted(len(more), 'further group loses', 'further groups lose')} {_number(_unread(more))} unread and "
            f"{at_least_unless(complete=complete)}{pending:,} pending."
        )


def lost_to_groups(losses: tuple[GroupLoss, ...]) -> str:
    """How much of what goes is unread and pending, in words; each group counts for itself."""
    pending, complete = pending_in(losses)
    unread = _number(_unread(losses))
    return f"{unread} of them unread and {at_least_unless(complete=complete)}{pending:,} pending, counted group by group"


def _loss_sentence(loss: GroupLoss) -> str:
    if not loss.unread.upper and not loss.pending:
        return f"Group {loss.group} loses nothing."
    parts = []
    if loss.unread.upper:
        parts.append(f"{entries_in_words(loss.unread)} that it has yet to read")
    if loss.pending:
        owners = first_few([f"{consumer} {count:,}" for consumer, count in loss.pending])
        pending = counted(loss.pending_count, "pending entry", "pending entries")
        parts.append(f"{at_least_unless(complete=loss.pending_complete)}{pending} ({owners})")
    return f"Group {loss.group} loses {' and '.join(parts)}."


def _unread(losses: Iterable[GroupLoss]) -> Amount:
    return Amount(sum(loss.unread.lower for loss in losses), sum(loss.unread.upper for loss in losses))


def pending_in(losses: Iterable[GroupLoss]) -> tuple[int, bool]:
    """How many pending entries go, and whether these are all."""
    return sum(loss.pending_count for loss in losses), all(loss.pending_complete for loss in losses)


def at_least_unless(*, complete: bool) -> str:
    """What comes before a number, where there may be more."""
    return "" if complete else "at least "


def _number(amount: Amount) -> str:
    """A number; where it was not all counted, what it is at least."""
    if amount.exact:
        return f"{amount.upper:,}"
    return f"at least {amount.lower:,}" if amount.lower else f"up to {amount.upper:,}"


def entries_in_words(amount: Amount) -> str:
    """``1,200 entries``; where they were not all counted, how many there are at least and at most."""
    if amount.lower and not amount.exact:
        return f"at least {counted(amount.lower, *ENTRIES)} (at most {amount.upper:,})"
    return at_most(amount)


def at_most(amount: Amount) -> str:
    """``1,200 entries``; where they were not all counted, up to how many."""
    if amount.exact:
        return counted(amount.upper, *ENTRIES)
    return f"up to {counted(amount.upper, *ENTRIES)}"
