"""Delayed messages: moving them to where they go before they are due, and cancelling them."""

from typing import Annotated

from streamops.model.delayed import Selection
from streamops.model.fields import backup_file, inner


class RunDelayedIntent(Selection, frozen=True, kw_only=True):
    """Move delayed messages to where they go now, due or not."""

    destinations: Annotated[tuple[str, ...], inner("Where they go, once that is known.")] = ()


class CancelDelayedIntent(Selection, frozen=True, kw_only=True):
    """Remove delayed messages; they are written to a file first."""

    backup: Annotated[str | None, backup_file("the messages")] = None
