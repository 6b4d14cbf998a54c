"""``autoscale run`` and ``autoscale keda`` before they begin: what is missing or makes no sense is said in two lines."""

import sys
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from streamops.cli.session import Session
from streamops.main.controllers import ControllerFlags, options_of
from tests.support.cli.running import Cli, Place

POOL = ("--stream", "orders", "--group", "workers")


def two_lines(err: str) -> list[str]:
    lines = err.splitlines()
    assert len(lines) == 2
    return lines


@pytest.mark.parametrize("missing", ["grpc", "grpc_health.v1"])
def test_without_its_extra_keda_s_scaler_says_how_to_install_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    told = cli("autoscale", "keda", *POOL)
    assert told.code == 2
    what, hint = two_lines(told.err)
    assert "takes grpcio" in what
    assert "pip install 'streamops[keda]'" in hint


@pytest.mark.parametrize("command", ["run", "keda"])
def test_a_read_only_context_has_no_controller(cli: Cli, command: str) -> None:
    told = cli("--read-only", "autoscale", command, *POOL)
    assert told.code == 4
    assert "writes down who leads" in two_lines(told.err)[0]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        pytest.param(("--every", "0.5s", *POOL), "--every: shorter than a second", id="too often"),
        pytest.param((), "no pool is configured", id="no pool"),
        pytest.param(("--stream", "orders"), "--stream without --group", id="no group"),
        pytest.param(("--group", "workers"), "are for --stream", id="no stream"),
        pytest.param(("a", "b", *POOL), "--stream is for one pool", id="two pools"),
        pytest.param(("--minimum", "5", "--maximum", "2", *POOL), "minimum must not be above", id="limits"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, words: tuple[str, ...], what: str) -> None:
    told = cli("autoscale", "run", *words)
    assert told.code == 2
    assert what in two_lines(told.err)[0]


@pytest.mark.parametrize("pools", [(), ("billing",)])
def test_a_pool_without_a_name_says_which_name_it_has(pools: tuple[str, ...]) -> None:
    notes: list[str] = []
    session = cast("Session", SimpleNamespace(narrator=SimpleNamespace(note=notes.append)))
    flags = ControllerFlags(stream="orders", group="workers", pools=pools)
    (one,) = options_of(session, flags, advise=False).assignments
    assert one.pool == (pools or ("default",))[0]
    assert [note.partition(",")[0] for note in notes] == ([] if pools else ["the pool is called default"])


SHARED = "".join(
    f'[pools.{name}]\nstream = "{name}"\ngroup = "g"\nbudget = "{budget}"\n'
    for name, budget in (("billing", "eight"), ("mail", "eight"), ("search", "three"))
)


def test_pools_of_a_budget_that_another_process_decides_about_are_known(place: Place) -> None:
    """A budget is one for all: whoever decides about some of its pools counts the workers of the others too."""
    place.configure(f"{SHARED}[budgets.eight]\nworkers = 8\n[budgets.three]\nworkers = 3\n")
    session = cast("Session", SimpleNamespace(settings=SimpleNamespace(context=None)))
    some = options_of(session, ControllerFlags(pools=("billing",)), advise=False)
    assert (some.budgets, some.elsewhere) == (
        {"eight": 8, "three": 3},
        {"eight": ("mail",), "three": ("search",)},
    )
    every = options_of(session, ControllerFlags(), advise=False)
    assert every.elsewhere == {"eight": (), "three": ()}
    assert (every.lease, len(every.assignments)) == (timedelta(seconds=15), 3)
