"""What the groups of a stream need of it, and what they would lose."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from streamops.model.acting import StreamIdentity
from streamops.model.effects import (
    LOSES_NOTHING,
    LOSES_PENDING,
    LOSES_UNREAD,
    NODES_GO,
    OLDEST_GO,
    Effect,
    Said,
    in_words,
)
from streamops.model.entries import Amount, EntryId, PendingEntry
from streamops.model.wording import counted


class BlockingGroup(Struct, frozen=True):
    """The group that needs the oldest entry that any group needs.

    Attributes:
        group: Its name.
        needs: The ID: nothing from there on may go.
        oldest_pending: Its pending entry of that ID; None if the position itself is the bound.
        entry_exists: Whether that pending entry still exists.
        is_poison: Whether it was delivered so often that the health rules call it poison.
        unread: Entries after its position.
    """

    group: str
    needs: EntryId
    oldest_pending: PendingEntry | None
    entry_exists: bool = True
    is_poison: bool = False
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
        holder: The group that needs the oldest entry of those needed; None if that was not read, or there is no group.
        losses: What each group loses; of an unsafe trim only.
        references: Whether XTRIM's exact form can be shown of pending rows: ``ACKED`` where the trim is safe, else
            ``DELREF``, so that the rows go with their entries.
        lag_goes_wrong: How the server's lag of groups that were overtaken goes wrong, in words; empty if it
            does not.
    """

    identity: StreamIdentity
    length: int
    entry_bytes: int
    asked: EntryId | None
    wanted: Amount
    removable: Amount
    holder: BlockingGroup | None = None
    losses: tuple[GroupLoss, ...] = ()
    references: bool = False
    lag_goes_wrong: str = ""


NAMED: Final = 5
"""Groups that have sentences of their own."""


def oldest_go(evidence: TrimEvidence, *, exact: bool, rest: str = "") -> Effect | None:
    """How many of the oldest entries go; ``rest`` is a sentence more about them."""
    removable, whole = evidence.removable, counted(evidence.length, "entry", "entries")
    if exact:
        return OLDEST_GO(removable, "" if removable.exact else "up to ", whole, rest)
    return NODES_GO(removable, whole, rest)


def loss_effects(losses: Sequence[GroupLoss]) -> Iterator[Said]:
    """What each group loses; beyond a few of them in one sentence."""
    for loss in losses[:NAMED]:
        yield from loss_facts([loss])
        if not (loss.unread.upper or loss.pending):
            yield LOSES_NOTHING(group=loss.group)
    if more := losses[NAMED:]:
        pending, complete = pending_in(more)
        yield (
            f"{counted(len(more), 'further group loses', 'further groups lose')} {in_words(_unread(more))} unread and "
            f"{in_words(Amount(pending, pending), open_ended=not complete)} pending."
        )


def loss_facts(losses: Iterable[GroupLoss]) -> Iterator[Effect | None]:
    """What each group loses, one by one."""
    for loss in losses:
        yield LOSES_UNREAD(loss.unread, group=loss.group)
        yield LOSES_PENDING(
            loss.pending_count, group=loss.group, names=loss.pending, open_ended=not loss.pending_complete
        )


def lost_to_groups(losses: Sequence[GroupLoss]) -> str:
    """How much of what goes is unread and pending, in words; each group counts for itself."""
    pending, complete = pending_in(losses)
    waiting = in_words(Amount(pending, pending), open_ended=not complete)
    return f"{in_words(_unread(losses))} of them unread and {waiting} pending, counted group by group"


def pending_in(losses: Iterable[GroupLoss]) -> tuple[int, bool]:
    """How many pending entries go, and whether these are all."""
    losses = list(losses)
    return sum(loss.pending_count for loss in losses), all(loss.pending_complete for loss in losses)


def _unread(losses: Iterable[GroupLoss]) -> Amount:
    losses = list(losses)
    return Amount(sum(loss.unread.lower for loss in losses), sum(loss.unread.upper for loss in losses))
