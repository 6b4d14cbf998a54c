"""A name that hands entries over, or is created, is one that people can read and type again."""

from collections.abc import Callable
from itertools import product

import pytest
from msgspec import Struct

from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.streams_reclaim.intent import ReclaimIntent
from tests.support.tables import table

INTENTS: dict[str, Callable[[str], Struct]] = {
    "claim": lambda name: ClaimIntent(stream="orders", group="billing", to=name),
    "consumers.rm": lambda name: RemoveConsumerIntent(
        stream="orders", group="billing", consumer="worker-1", to=name
    ),
    "streams.reclaim": lambda name: ReclaimIntent(stream="orders", group="billing", to=name),
    "groups.create": lambda name: CreateGroupIntent(stream="orders", group=name),
}


@table(
    ("operation", "name"),
    product(INTENTS, ["", " ", "\t", "\u3000", "\u200b", "a\nb", "\x1b[2J", "\x7f", "\u202eabc"]),
)
def test_name_without_a_readable_character_is_refused(operation: str, name: str) -> None:
    with pytest.raises(ValueError, match="not blank and holds no control characters"):
        INTENTS[operation](name)


@table(
    ("operation", "name"),
    product(INTENTS, ["worker-2", "so worker 2", "-x", "größe", "工人", "\udcff\udcfe"]),
)
def test_any_other_name_is_taken(operation: str, name: str) -> None:
    INTENTS[operation](name)
