"""What the keys that a configuration maps to streams are on the server."""

from typing import Final

from msgspec import Struct

from streamops.analysis.wording import counted
from streamops.operate.acting.place import Place
from streamops.wire.beside import read_types
from streamops.wire.delayed import count_queues
from streamops.wire.faults import Fault
from streamops.wire.keys import delayed_key

KINDS: Final = {"dead_letters": ("stream", "a stream"), "delayed": ("zset", "a sorted set")}
MISSING: Final = "none"


class MappingProblem(Struct, frozen=True):
    """A mapped key that is not what it is mapped as.

    Attributes:
        table: ``dead_letters`` or ``delayed``.
        stream: The stream.
        text: What is wrong.
        hint: What to do.
    """

    table: str
    stream: str
    text: str
    hint: str


async def find_mapping_problems(place: Place) -> list[MappingProblem]:
    """The mapped keys of another type, and the delayed queues that another program writes to.

    Raises:
        ServerError: No node answers, or a key may not be looked at.
    """
    mapped = [
        (table, stream, key)
        for table, keys in (("dead_letters", place.dead_letters), ("delayed", place.delayed))
        for stream, key in keys.items()
    ]
    problems: list[MappingProblem] = []
    types = await read_types(place.server, [key for _, _, key in mapped])
    for (table, stream, key), found in zip(mapped, types, strict=True):
        if isinstance(found, Fault):
            raise found.error(key)
        wanted, words = KINDS[table]
        if found not in (wanted, MISSING):
            text = f"key {key} is a {found}, not {words}"
            problems.append(MappingProblem(table, stream, text, "Name a key that nothing else uses."))
    wrong = {problem.stream for problem in problems if problem.table == "delayed"}
    streams = [stream for stream in place.delayed if stream not in wrong]
    counts = await count_queues(place.server, [delayed_key(stream, place.delayed) for stream in streams])
    for stream, count in zip(streams, counts, strict=True):
        if isinstance(count, Fault):
            raise count.error(delayed_key(stream, place.delayed))
        if count.foreign:
            members = counted(count.foreign, "member", "members")
            text = f"sorted set {count.queue} has {members} that streamops did not write"
            hint = "Name a sorted set that nothing else uses; streamops leaves those members untouched."
            problems.append(MappingProblem("delayed", stream, text, hint))
    return problems
