"""A group's pending list as it is at one instant: how much of it is whose, and what came to it of late."""

from collections.abc import Sequence

from streamops.model.entries import PendingEntry
from streamops.wire.node import Reply
from streamops.wire.pending_pages import pending_command
from streamops.wire.reads import PendingRange
from streamops.wire.replies import decode_name, decode_pending_rows
from streamops.wire.server import Server


async def read_pending_at_once(
    server: Server, page: PendingRange
) -> tuple[dict[str, int], tuple[PendingEntry, ...]] | None:
    """How many rows each consumer has, and the rows after an ID; none where the server does not tell both together.

    Args:
        server: The server.
        page: The rows that are wanted; ``after`` is given.

    Raises:
        ServerError: The node did not answer.
    """
    name = page.stream, page.group
    *_, told = await server.together(
        page.stream,
        [
            ("MULTI",),
            ("XPENDING", *name),
            pending_command(*name, str(page.after), page.limit),
            ("EXEC",),
        ],
    )
    return None if _is_refused(told) else _decoded(*told)


def _is_refused(told: Reply) -> bool:
    return not isinstance(told, list) or any(isinstance(part, Exception) for part in told)


def _decoded(
    summary: Sequence[Reply], rows: Sequence[Sequence[Reply]]
) -> tuple[dict[str, int], tuple[PendingEntry, ...]]:
    owners = {decode_name(name): int(count) for name, count in summary[3] or ()}
    return owners, decode_pending_rows(rows)
