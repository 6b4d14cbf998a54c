"""What groups lose by a trim that heeds none, in words; where not all was counted, what it is at least."""

from collections.abc import Iterable, Iterator
from typing import Final

from streamops.model.acts.trim import GroupLoss
from streamops.model.entries import Amount
from streamops.model.wording import counted, first_few

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
