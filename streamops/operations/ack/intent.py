"""Acknowledging pending entries by hand."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, option
from streamops.model.ids import EntryId


class AckIntent(Struct, frozen=True, kw_only=True):
    """Acknowledge entries of a group by their IDs, as if its consumers had."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[tuple[EntryId, ...], option("The entries: IDs with commas between, or - to read them.")]
