"""What trimming and deleting do on which server, by its version."""

from collections.abc import Sequence

from streamops.model.acts.groups import Amount
from streamops.model.ids import EntryId
from streamops.model.readings import StreamReading
from streamops.model.server import Flavour, ServerNode

SOUND_EXACT = (8, 2, 3)
SOUND_APPROXIMATE = ((8, 2, 7), (8, 4, 4), (8, 6, 0))
"""By minor version, the patch from which XTRIM's ``~`` together with ``ACKED`` or ``DELREF`` removes anything; redis
#14656, #14623."""

LAG_SOUND_REDIS = (7, 4, 4)
UNSOUND = (0, 0, 0)


def acked_is_sound(nodes: Sequence[ServerNode]) -> tuple[bool, bool]:
    """Whether XTRIM may be told ``ACKED`` on all of these servers, in its approximate form and in its exact one.

    Source: Redis's release notes; no server that has the option was there to be tried.
    """
    versions = _redis_versions(nodes)
    return all(map(_approximate, versions)), all(version >= SOUND_EXACT for version in versions)


def trim_delref_is_sound(nodes: Sequence[ServerNode]) -> bool:
    """Whether XTRIM may be told ``DELREF`` on all of these servers, in either form: a trim uses both.

    Source: as above. References of entries that were deleted before stay; redis #15581.
    """
    return all(map(_approximate, _redis_versions(nodes)))


def xdelex_is_sound(nodes: Sequence[ServerNode]) -> bool:
    """Whether XDELEX may be used on all of these servers, which deletes an entry and its references together.

    Source: as above.
    """
    return all(version >= SOUND_EXACT for version in _redis_versions(nodes))


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


def _redis_versions(nodes: Sequence[ServerNode]) -> list[tuple[int, int, int]]:
    """The versions of these servers, of which one is of no use where it is no Redis, or where there is none."""
    return [node.version if node.flavour is Flavour.REDIS else UNSOUND for node in nodes] or [UNSOUND]


def _approximate(version: tuple[int, int, int]) -> bool:
    sound = [one for one in SOUND_APPROXIMATE if one[:2] <= version[:2]]
    return bool(sound) and version >= sound[-1]
