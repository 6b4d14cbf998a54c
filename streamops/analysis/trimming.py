"""What trimming does on which server, by its version."""

from collections.abc import Sequence

from streamops.model.server import Flavour, ServerNode

SOUND_EXACT = (8, 2, 3)
SOUND_APPROXIMATE = ((8, 2, 7), (8, 4, 4), (8, 6, 0))
"""By minor version, the patch from which XTRIM's ``~`` together with ``ACKED`` removes anything; redis #14656."""

LAG_SOUND_REDIS = (7, 4, 4)


def acked_is_sound(nodes: Sequence[ServerNode]) -> tuple[bool, bool]:
    """Whether XTRIM may be told ``ACKED`` on all of these servers, in its approximate form and in its exact one.

    Source: Redis's release notes; no server that has the option was there to be tried.
    """
    versions = [node.version for node in nodes if node.flavour is Flavour.REDIS]
    if not versions or len(versions) < len(nodes):
        return False, False
    return all(map(_approximate, versions)), all(version >= SOUND_EXACT for version in versions)


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


def _approximate(version: tuple[int, int, int]) -> bool:
    sound = [one for one in SOUND_APPROXIMATE if one[:2] <= version[:2]]
    return bool(sound) and version >= sound[-1]
