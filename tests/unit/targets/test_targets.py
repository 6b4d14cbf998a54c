"""From specs to targets, and what their answers are held to."""

import sys
from datetime import timedelta

import pytest

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.targets.specs import (
    CommandSpec,
    KubernetesSpec,
    TargetKind,
    TargetSpec,
)
from streamops.targets.target import (
    LONGEST_PAUSE,
    decode_pause,
    one_line,
    require_done,
    require_expected,
)
from streamops.targets.targets import Targets
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.tables import table

HERE = Server(ConnectionOptions())
"""Never reached."""
SPECS: tuple[tuple[TargetSpec | None, str], ...] = (
    (None, "streamops run --pool billing --workers auto"),
    (KubernetesSpec(name="b", kind="StatefulSet", namespace="shop"), "statefulset shop/b"),
    (CommandSpec(get=("count",), set=("scale", "--password", "x")), "command scale"),
)


def targets_of(spec: TargetSpec | None) -> Targets:
    return Targets(lambda _: spec, by="me")


@pytest.mark.parametrize(("spec", "label"), SPECS, ids=lambda value: type(value).__name__)
async def test_each_spec_has_its_target(spec: TargetSpec | None, label: str) -> None:
    targets = targets_of(spec)
    target = targets.of(HERE, "billing")
    assert target.label == label
    assert target.kind in list(TargetKind)
    assert targets.of(HERE, "billing") is target
    # Nothing was connected yet, and letting go of nothing is fine, twice too.
    await target.close()
    await targets.close()


def test_without_lightkube_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "streamops.targets.kubernetes", None)
    with pytest.raises(TargetError) as told:
        targets_of(KubernetesSpec(name="billing")).of(HERE, "billing")
    assert told.value.hint == "Install it: pip install 'streamops[kubernetes]'"


@table(
    ("written", "seconds"),
    [
        ("7", 7),
        (" 0 ", 0),
        ("99999", LONGEST_PAUSE.total_seconds()),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("9" * 40, None),
        ("\u0664", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_a_retry_after_is_read_as_whole_seconds_up_to_the_longest(
    written: str, seconds: float | None
) -> None:
    assert decode_pause(written) == (None if seconds is None else timedelta(seconds=seconds))


def test_the_last_line_that_says_something() -> None:
    assert one_line("a\nb \n\n") == "b"
    assert one_line("") == ""
    assert one_line("token abcdef and abc", ["abc", "abcdef", "", "a"]) == "token *** and ***"
    assert one_line("x" * 1000) == "x" * 300


def test_a_size_other_than_expected_or_asked_for_is_an_error() -> None:
    require_expected("it", PoolSize(ordered=3, ready=1, version="2"), PoolSize(ordered=3))
    with pytest.raises(TargetChanged):
        require_expected("it", PoolSize(ordered=3), PoolSize(ordered=4))
    require_done("it", 3, PoolSize(ordered=3))
    with pytest.raises(TargetError) as told:
        require_done("it", 3, PoolSize(ordered=4))
    assert not isinstance(told.value, TargetChanged)
