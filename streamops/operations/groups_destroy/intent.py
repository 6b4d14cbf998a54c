"""Destroying a consumer group."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, backup_file


class DestroyGroupIntent(Struct, frozen=True, kw_only=True):
    """Destroy a consumer group: its position and its pending entries list."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    backup: Annotated[str | None, backup_file("position and pending rows")] = None
