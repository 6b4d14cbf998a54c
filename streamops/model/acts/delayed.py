"""Delayed messages: moving them to where they go before they are due, and cancelling them."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from streamops.model.delayed import DelayedMessage, Selection
from streamops.model.fields import backup_file, inner


class RunDelayedIntent(Selection, frozen=True, kw_only=True):
    """Move delayed messages to where they go now, due or not."""

    destinations: Annotated[tuple[str, ...], inner("Where they go, once that is known.")] = ()


class CancelDelayedIntent(Selection, frozen=True, kw_only=True):
    """Remove delayed messages; they are written to a file first."""

    backup: Annotated[str | None, backup_file("the messages")] = None


class DelayedEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about the messages selected.

    Attributes:
        queue: The queue's key.
        ids: Those that are there, the first due first, or in the order asked for.
        missing: How many of the IDs asked for are not there.
        sample: The first few of them.
        queued: How many messages the queue has in all.
        destinations: Where those go that can become entries, and how many go there.
        broken: Those of them that cannot become entries, by ID with the reason; ``ids`` has them too.
        foreign: Members and bodies of other programs that were asked for; ``ids`` does not have them.
        retries: How many of those that can become entries are due again for one group alone.
        now: The server's clock; none where it may not be asked.
    """

    queue: str
    ids: tuple[str, ...]
    missing: int
    sample: tuple[DelayedMessage, ...]
    queued: int
    destinations: tuple[tuple[str, int], ...]
    broken: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...]
    retries: int
    now: datetime | None
