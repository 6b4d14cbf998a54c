"""Scripts, run on many keys in one batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from struct import pack
from typing import Any, Final, Generic, NamedTuple, TypeVar

from streamops.model.text import name_bytes
from streamops.wire.batches import Answers, Request
from streamops.wire.faults import Fault, FaultKind, fault, required
from streamops.wire.node import Argument, Command, Node, Reply
from streamops.wire.replies import decode_time
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

Decoded = TypeVar("Decoded")

MOST_PARTS: Final = 7_800
"""Field names and values that a script can hand to XADD: Lua unpacks about 8,000."""

DIGEST_DENIED: Final = "run the 'evalsha"
"""What servers of all versions say to users without permission for EVALSHA or EVALSHA_RO."""


class Call(NamedTuple, Generic[Decoded]):
    """One run of a script.

    Attributes:
        key: Its first key, which says where it runs.
        arguments: Its arguments.
        decode: What to make of the reply.
        more_keys: Its further keys, in the same slot.
    """

    key: str
    arguments: tuple[Argument, ...]
    decode: Callable[[Any], Decoded]
    more_keys: tuple[str, ...] = ()

    def request(self, name: str, code: str) -> Request:
        """The same as a request: EVAL with the source or EVALSHA with the digest, and so on."""
        keys = (self.key, *self.more_keys)
        return Request(self.key, (name, code, len(keys), *keys, *self.arguments), self.decode)


def optional(value: object | None) -> str:
    """A value as scripts take it; empty for none."""
    return "" if value is None else str(value)


async def run_script(
    server: Server,
    name: str,
    calls: Sequence[Call[Any]],
    *,
    read_only: bool,
    prelude: Sequence[Command] = (),
) -> Answers:
    """Run a script once for each call, in one round trip a node.

    A call names the script by its digest where its node has run it before; the first call on another node carries the
    source. What a node answers with NOSCRIPT (SCRIPT FLUSH, a restart, another primary) did nothing, and is sent again
    with the source: after those calls of the batch that ran.

    Args:
        server: Where to.
        name: The script's name.
        calls: Keys with their arguments and decoders.
        read_only: Whether to use the read-only forms, which Redis 7.0 brought.
        prelude: Commands to send to every node first.
    """
    script = load_script(name)
    with_source, with_sha = ("EVAL_RO", "EVALSHA_RO") if read_only else ("EVAL", "EVALSHA")
    carried: set[Node | None] = set()
    requests = []
    for call in calls:
        node = server.node_of(call.key)
        by_digest = (
            node is not None and node.takes_digests and (script.sha in node.scripts or node in carried)
        )
        carried.add(node)
        requests.append(
            call.request(*((with_sha, script.sha) if by_digest else (with_source, script.source)))
        )
    answers = await server.batch(requests, prelude)
    if lost := [at for at, reply in enumerate(answers.replies) if _did_not_run(reply, answers.nodes[at])]:
        again = [calls[at].request(with_source, script.source) for at in lost]
        for at, reply in zip(lost, (await server.batch(again)).replies, strict=True):
            answers.replies[at] = reply
    ran = zip(answers.nodes, answers.replies, strict=True)
    for node in {node for node, reply in ran if node is not None and not isinstance(reply, Exception)}:
        node.scripts.add(script.sha)
    return answers


async def write_script(server: Server, name: str, call: Call[Decoded], what: str) -> Decoded:
    """Run a script that writes, once; its decoded reply.

    Raises:
        StalePlan: The script found another state than it was told, and wrote nothing.
        ServerError: The script was refused, said of ``what``; or the node did not answer, and it is not known whether it ran.
    """
    reply = await try_script(server, name, call)
    return required(reply, what)


async def try_script(server: Server, name: str, call: Call[Decoded]) -> Decoded | Fault:
    """The same, for who goes on if it is refused: the fault.

    Raises:
        ServerError: The node did not answer. Whether the script ran is then not known.
    """
    answers = await run_script(server, name, [call], read_only=False)
    reply: Decoded | Exception = answers.replies[0]
    if answers.failures and isinstance(reply, Exception):
        raise server.error(reply)
    return fault(reply) if isinstance(reply, Exception) else reply


async def read_script(server: Server, name: str, call: Call[Decoded], what: str) -> Decoded:
    """Run a script that only reads, once; its decoded reply.

    No permission to write is asked for where the server has the read-only form of scripts, which Redis 7.0 brought.

    Raises:
        ServerError: The script was refused, said of ``what``; or the node did not answer.
    """
    answers = await run_script(server, name, [call], read_only=True)
    if not answers.failures and isinstance(answers.replies[0], Exception):
        why = fault(answers.replies[0])
        if why.kind is FaultKind.UNSUPPORTED or why.denies_command:
            answers = await run_script(server, name, [call], read_only=False)
    reply: Decoded | Exception = answers.replies[0]
    if answers.failures and isinstance(reply, Exception):
        raise server.error(reply)
    return required(reply, what)


async def run_between(
    server: Server, name: str, call: Call[Any], before: Sequence[Request], after: Sequence[Request] = ()
) -> Answers:
    """Run a script that writes between other commands, in one round trip; all of them again if its node did not know it."""
    script, node = load_script(name), server.node_of(call.key)
    if node is not None and node.takes_digests and script.sha in node.scripts:
        answers = await server.batch([*before, call.request("EVALSHA", script.sha), *after])
        if not _did_not_run(answers.replies[len(before)], node):
            return answers
    answers = await server.batch([*before, call.request("EVAL", script.source), *after])
    if node is not None and not isinstance(answers.replies[len(before)], Exception):
        node.scripts.add(script.sha)
    return answers


async def write_timed_script(
    server: Server, name: str, call: Call[Decoded], what: str
) -> tuple[Decoded, timedelta | None]:
    """What ``write_script`` returns, and what it took the server; None if its clock may not be asked.

    The clock is looked at before and after: inside a script it stands still. Raises as ``write_script`` does.
    """
    clock = [Request(call.key, ("TIME",))]
    answers = await run_between(server, name, call, clock, clock)
    before, reply, after = answers.replies
    if answers.failures and isinstance(reply, Exception):
        raise server.error(reply)
    known = not isinstance(before, Exception) and not isinstance(after, Exception)
    return required(reply, what), decode_time(after) - decode_time(before) if known else None


def _did_not_run(reply: Reply, node: Node | None) -> bool:
    """Whether a call named a script that its node does not know, or the user may not name scripts by digests."""
    if not isinstance(reply, Exception):
        return False
    # Commands that a script calls are denied in the same words, with their own names.
    if DIGEST_DENIED in str(reply):
        if node is not None:
            node.takes_digests = False
        return True
    return fault(reply).kind is FaultKind.NO_SCRIPT


Value = None | bool | int | bytes | str | Sequence["Value"] | Mapping[str, "Value"] | Mapping[bytes, "Value"]

_SMALL: Final = 0x10000
_INT64: Final = 0xD3


def lua_value(value: Value) -> bytes:
    """A value as one argument of a script, which ``cmsgpack.unpack`` reads; texts as their bytes."""
    return b"".join(_parts(value))


def _parts(value: Value) -> Iterator[bytes]:
    match value:
        case None:
            yield b"\xc0"
        case bool():
            yield b"\xc3" if value else b"\xc2"
        case int():
            yield pack(">Bq", _INT64, value)
        case str():
            yield from _parts(name_bytes(value))
        case bytes():
            yield _head(0xDA, len(value)) + value
        case Mapping():
            yield _head(0xDE, len(value))
            for name, part in value.items():
                yield from _parts(name)
                yield from _parts(part)
        case _:
            yield _head(0xDC, len(value))
            for part in value:
                yield from _parts(part)


def _head(code: int, size: int) -> bytes:
    """What stands before a text, a list or a mapping: the code for 16 bits of size, or the next for 32."""
    return pack(">BH", code, size) if size < _SMALL else pack(">BI", code + 1, size)
