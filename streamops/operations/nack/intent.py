"""Giving pending entries back."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, option
from streamops.model.ids import EntryId


class NackIntent(Struct, frozen=True, kw_only=True):
    """Give entries of a group back, so that another consumer gets them at once."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[tuple[EntryId, ...], option("The entries: IDs with commas between, or - to read them.")]
    source: Annotated[str | None, option("Only entries of this consumer.", "from", completes="consumers")] = (
        None
    )
