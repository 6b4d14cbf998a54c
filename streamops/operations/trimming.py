"""What trimming and deleting do on which server, by its version."""

from collections.abc import Sequence

from streamops.model.entries import Amount
from streamops.model.ids import EntryId
from streamops.model.readings import StreamReading
from streamops.model.server import Flavour, ServerNode

REFERENCES_SOUND = (8, 2, 3)

LAG_SOUND_REDIS = (7, 4, 4)


def references_are_sound(nodes: Sequence[ServerNode]) -> bool:
    """Whether these servers heed pending rows: XDELEX, and XTRIM's ``ACKED`` and ``DELREF`` in its exact form.

    Source: tried on Redis 8.2.3, whose approximate form removes nothing with either word. Pending rows of entries
    that were deleted before stay; redis #15581.
    """
    return bool(nodes) and all(
        node.flavour is Flavour.REDIS and node.version >= REFERENCES_SOUND for node in nodes
    )


def lag_after_overtaking(nodes: Sequence[ServerNode]) -> str:
    """How the server's lag of a group goes wrong where trimming overtook it, in words; empty where it does not.

    Source: redis #13338, #13473, #13958; and thousands of random histories on 7.0 and Valkey 8.1 and 9.1.
    """
    if any(node.flavour is Flavour.VALKEY for node in nodes):
        return "the server's lag will be too high until the group reads on"
    versions = [node.version for node in nodes]
    if any((7, 0, 0) <= version < LAG_SOUND_REDIS for version in versions):
        return "the server's lag will stay too high, even once the group has read everything; streamops counts instead"
    return ""


def unread_below(stream: StreamReading, position: EntryId, cut: EntryId, removable: Amount) -> Amount:
    """How many entries below an ID come after a position, as far as the position alone tells it.

    Args:
        stream: The stream.
        position: Where the group stands.
        cut: The ID.
        removable: How many entries are below it.
    """
    end = stream.end_id
    if position >= cut or (end is not None and position >= end):
        return Amount(0, 0)
    if stream.first_id is None:
        return Amount(0, removable.upper)
    if position < stream.first_id:
        return removable
    # The first entry is below the ID as well, and the group was given it.
    return Amount(0, max(0, removable.upper - 1))
