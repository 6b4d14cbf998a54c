"""Removing idle consumers."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, option


class PruneConsumersIntent(Struct, frozen=True, kw_only=True):
    """Remove consumers that have been idle for long and have nothing pending."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    idle: Annotated[timedelta, option("Only those that were idle for so long.")] = timedelta(hours=1)
