"""The books themselves: each way in which something can be wrong is found, and what is right is not complained of."""

from collections import Counter
from collections.abc import Mapping

import pytest

from streamops.wire.options import ConnectionOptions
from tests.chaos.topologies.operators import Deed, Said, ill_said
from tests.chaos.topologies.reading import Reading, read_key
from tests.chaos.topologies.workers import Run
from tests.chaos.topologies.works import GROUP, UNITS, UNREPLICATED, Claim, Replay, Survived, Trim, numbers
from tests.support.servers import RunningServer

NOBODY: Survived = {}


class Alone:
    """One server, as a place that nothing happens to."""

    def __init__(self, server: RunningServer) -> None:
        self.url, self.options, self.label = server.url, ConnectionOptions(), server.label
        self.faults: dict[str, int] = {}
        self._server = server

    @property
    def leaders(self) -> frozenset[int]:
        return frozenset({self._server.port})

    def primary_of(self, key: str) -> RunningServer:  # noqa: ARG002 - one server has them all
        return self._server

    def names(self, *stems: str) -> list[str]:
        return [*stems]

    async def replicated(self) -> None:
        """There are no replicas."""


async def idle(_: Deed) -> None:
    """Nobody acts: the test itself does, rightly or not."""


def replayed(server: RunningServer) -> Replay:
    """A replay that was done as it should be."""
    work = Replay(Alone(server), idle, "s")
    work.prepare()
    for number in numbers(UNITS):
        server.command("XADD", "s", "*", "n", number)
    server.command("DEL", "{s}:dlq")
    return work


def test_a_replay_that_is_right(server: RunningServer) -> None:
    account = replayed(server).audit(NOBODY)
    assert (account.handled, account.problems) == (UNITS, ())


def test_a_letter_that_came_twice_and_one_that_is_lost(server: RunningServer) -> None:
    work = replayed(server)
    first = server.command("XRANGE", "s", "-", "+", "COUNT", 1)[0][0]
    server.command("XDEL", "s", first)
    server.command("XADD", "s", "*", "n", "1")
    assert work.audit(NOBODY).problems == ("1: came twice: 1", "1: is lost: 0")


def test_a_letter_that_is_left(server: RunningServer) -> None:
    work = replayed(server)
    server.command("XADD", "{s}:dlq", "*", "n", "7")
    assert work.audit(NOBODY).problems == ("1: is left in the queue: 7",)


def test_a_letter_that_whoever_took_over_had_cannot_be_excused(server: RunningServer) -> None:
    work = replayed(server)
    survived = {"s": read_key(server, "s")}
    for entry_id, _ in server.command("XRANGE", "s", "-", "+", "COUNT", 2):
        server.command("XDEL", "s", entry_id)
    assert work.audit(survived).problems == ("2: is lost: 0, 1",)
    empty: Mapping[str, Reading] = {"s": Reading()}
    assert work.audit(empty).destroyed == {UNREPLICATED: 2}


def test_an_entry_that_a_trim_dropped_though_it_was_needed(server: RunningServer) -> None:
    work = Trim(Alone(server), idle, "s")
    work.prepare()
    server.command("XTRIM", "s", "MAXLEN", UNITS)
    assert work.audit(NOBODY).problems == ()
    server.command("XTRIM", "s", "MAXLEN", UNITS - 1)
    (problem,) = work.audit(NOBODY).problems
    assert "was dropped, and a group needs it" in problem


def test_a_claim_that_lost_a_row_or_left_one(server: RunningServer) -> None:
    work = Claim(Alone(server), idle, "s")
    work.prepare()
    ids = [row[0] for row in server.command("XPENDING", "s", GROUP, "-", "+", UNITS)]
    server.command("XCLAIM", "s", GROUP, "living", 0, *ids[:-1])
    server.command("XACK", "s", GROUP, ids[0])
    first, second = work.audit(NOBODY).problems
    assert first.startswith("1: is pending no more")
    assert second.startswith("1: has its old owner")


@pytest.fixture
def run(server: RunningServer) -> Run:
    """A worker's run of two entries, each handled once."""
    work = Run(Alone(server), "s")
    work.prepare()
    for number in ("1", "2"):
        server.command("XADD", "s", f"{number}-0", "n", number, "do", "ok")
    work._confirmed = {"1", "2"}
    work._done = Counter(["1", "2"])
    return work


def test_a_run_that_is_right(run: Run) -> None:
    assert run.audit(NOBODY).problems == ()


def test_an_entry_that_was_not_handled_or_twice_or_is_gone(run: Run, server: RunningServer) -> None:
    run._done = Counter(["2", "2"])
    assert run.audit(NOBODY).problems == (
        "1: was neither handled nor given up: 1",
        "1: was handled twice, though its acknowledgement was replicated: 2",
    )
    server.command("XDEL", "s", "1-0")
    assert "1: was confirmed and replicated, and is lost: 1" in run.audit(NOBODY).problems


def test_an_entry_of_a_former_primary_that_has_the_id_of_another(run: Run) -> None:
    """It was handled, is nowhere any more, and is no second time of the one that is there."""
    run._done["3"] += 1
    assert run.audit(NOBODY).problems == ()


def test_an_entry_that_was_published_after_the_takeover_is_not_excused(
    run: Run, server: RunningServer
) -> None:
    survived = {key: read_key(server, key) for key in run.keys}
    server.command("XADD", "s", "3-0", "n", "3", "do", "ok")
    run._confirmed.add("3")
    run._done["3"] += 2
    (problem,) = run.audit(survived).problems
    assert problem == "1: was handled twice, though its acknowledgement was replicated: 3"


def test_what_whoever_took_over_did_not_know(run: Run, server: RunningServer) -> None:
    """An acknowledgement, and an entry: neither is held against anybody, and both are counted."""
    server.command("XREADGROUP", "GROUP", "workers", "w", "STREAMS", "s", ">")
    server.command("XDEL", "s", "1-0")
    survived = {key: read_key(server, key) for key in run.keys}
    run._done = Counter(["2", "2"])
    account = run.audit(survived)
    assert account.problems == ()
    assert (sum(account.destroyed.values()), sum(account.repeated.values())) == (1, 1)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (Said(0, "done\n", "a note\n"), ""),
        (Said(3, "", "error: it is away\nhint: wait\n"), ""),
        (Said(5, "", "error: it is away\nhint: wait\nresume with: streamops jobs resume a1\n"), ""),
        (Said(1, "", "Traceback (most recent call last):\n"), "a bug"),
        (Said(1, "", "error: a bug in streamops: KeyError\nhint: report it\n"), "a bug"),
        (Said(3, "", "error: it is away\n"), "1 lines of what is wrong, 0 of what to do"),
        (Said(0, "", "error: it is away\nhint: wait\n"), "an error in spite of its exit code"),
    ],
)
def test_how_commands_may_end(said: Said, wrong: str) -> None:
    assert ill_said(said) == wrong


def test_the_job_to_go_on_with() -> None:
    assert Said(5, "", "error: x\nresume with: streamops --url u jobs resume a1b2\n").job == "a1b2"
    assert not Said(5, "", "error: x\n").job
