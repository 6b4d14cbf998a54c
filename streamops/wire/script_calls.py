"""Scripts, run on many keys in one batch."""

from collections.abc import Sequence
from typing import NamedTuple

from streamops.wire.faults import FaultKind, fault
from streamops.wire.node import Argument, Command, Decoder, Node, Reply
from streamops.wire.scripts import load_script
from streamops.wire.server import Answers, Request, Server


class Call(NamedTuple):
    """One run of a script: its key, its arguments, and what to make of the reply."""

    key: str
    arguments: tuple[Argument, ...]
    decode: Decoder


async def run_script(
    server: Server,
    name: str,
    calls: Sequence[Call],
    *,
    read_only: bool,
    prelude: Sequence[Command] = (),
) -> Answers:
    """Run a one-key script once for each call, in one round trip a node.

    The first call on each node carries the source, which caches it for the rest of the batch: no permission
    to load scripts is needed, and SCRIPT FLUSH costs nothing.

    Args:
        server: Where to.
        name: The script's name.
        calls: Keys with their arguments and decoders.
        read_only: Whether to use the read-only forms, which Redis 7.0 brought.
        prelude: Commands to send to every node first.
    """
    script = load_script(name)
    with_source, with_sha = ("EVAL_RO", "EVALSHA_RO") if read_only else ("EVAL", "EVALSHA")
    nodes: set[Node | None] = set()
    requests = []
    for key, arguments, decode in calls:
        node = server.node_of(key)
        code = (with_sha, script.sha) if node in nodes else (with_source, script.source)
        nodes.add(node)
        requests.append(Request(key, (*code, 1, key, *arguments), decode))
    answers = await server.batch(requests, prelude)
    # A key that moved to another node in the meantime meets a server that has not seen the source; so does
    # every key after one that the user may not read.
    if lost := [at for at, reply in enumerate(answers.replies) if _is_no_script(reply)]:
        again = [
            Request(key, (with_source, script.source, 1, key, *arguments), decode)
            for key, arguments, decode in (calls[at] for at in lost)
        ]
        for at, reply in zip(lost, (await server.batch(again)).replies, strict=True):
            answers.replies[at] = reply
    return answers


def _is_no_script(reply: Reply) -> bool:
    return isinstance(reply, Exception) and fault(reply).kind is FaultKind.NO_SCRIPT
