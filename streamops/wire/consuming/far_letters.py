"""Dead letters that no script can write together with settling their entries: each is written once, and marked.

That is so where the queue is in another slot, and where an entry has more fields than a script can hand to XADD.
"""

from collections.abc import Sequence
from typing import Final

from streamops.model.deliveries import Letter
from streamops.wire.batches import Request
from streamops.wire.consuming.asking import mark_prefix
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import required
from streamops.wire.keys import encoded_part, moved_key
from streamops.wire.lua_values import lua_value
from streamops.wire.node import Command
from streamops.wire.script_calls import Call, write_script
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

MARKERS_KEPT_MS: Final = 7 * 24 * 3600 * 1000
"""For how long it is remembered which letters were written."""

MOST_PARTS: Final = 7_800
"""Names and values that a script can hand to XADD."""

ABOUT_PARTS: Final = 18
"""Names and values at a letter's end, which say what it is about."""


async def place_letters(
    server: Server,
    sub: Subscription,
    letters: Sequence[Letter],
    fields: Sequence[Sequence[bytes]],
    *,
    retries: bool,
) -> int:
    """Write letters to the queue, each once as long as it stands there; how many from the first on stand there now.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    source = f"{encoded_part(sub.stream)}:{encoded_part(sub.group)}:{mark_prefix(retries=retries)}"
    markers = [moved_key(sub.dead_letters, f"{source}{letter.entry_id.decode()}") for letter in letters]
    wide = next((at for at, parts in enumerate(fields) if len(parts) > MOST_PARTS), len(letters))
    if wide:
        return await _place(server, sub, markers[:wide], fields[:wide])
    await _place_wide(server, sub, markers[0], fields[0])
    return 1


async def _place(
    server: Server, sub: Subscription, markers: Sequence[str], fields: Sequence[Sequence[bytes]]
) -> int:
    queue = sub.dead_letters
    call = Call(queue, (MARKERS_KEPT_MS, lua_value(fields)), int, tuple(markers))
    return await write_script(server, "consume_place", call, f"dead-letter queue {queue}")


async def _place_wide(server: Server, sub: Subscription, marker: str, parts: Sequence[bytes]) -> None:
    """Write a letter and its marker in one transaction, without the bounds of a script."""
    queue, what = sub.dead_letters, f"dead-letter queue {sub.dead_letters}"
    if await write_script(server, "consume_is_placed", Call(queue, (), bool, (marker,)), what):
        return
    script = load_script("consume_placed").source
    marking: Command = ("EVAL", script, 2, queue, marker, MARKERS_KEPT_MS, *parts[-ABOUT_PARTS:])
    commands: tuple[Command, ...] = (("MULTI",), ("XADD", queue, "*", *parts), marking, ("EXEC",))
    answers = await server.batch([Request(queue, command) for command in commands])
    # What was refused before the transaction ran tells more than that it did not run.
    for reply in answers.replies:
        if answers.failures and isinstance(reply, Exception):
            raise server.error(reply)
        required(reply, what)
    for reply in answers.replies[-1]:
        required(reply, what)
