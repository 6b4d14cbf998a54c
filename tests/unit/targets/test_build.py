"""From specs to targets, and what making one imports."""

import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.targets.build import target_of
from streamops.targets.kubernetes import KubernetesTarget
from streamops.targets.specs import (
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetKind,
    TargetSpec,
)
from streamops.targets.target import (
    LONGEST_PAUSE,
    Target,
    decode_pause,
    one_line,
    require_done,
    require_expected,
)
from tests.support.tables import table

SPECS: tuple[tuple[TargetSpec, str], ...] = (
    (KubernetesSpec(name="b", kind="StatefulSet", namespace="shop"), "statefulset shop/b"),
    (CommandSpec(get=("count",), set=("scale", "--password", "x")), "command scale"),
)


def never() -> Target:
    raise AssertionError("nobody asked for local workers")


@pytest.mark.parametrize(("spec", "label"), SPECS, ids=lambda value: type(value).__name__)
async def test_each_spec_has_its_target(spec: TargetSpec, label: str) -> None:
    target = target_of("billing", spec, never)
    assert target.label == label
    assert target.kind in list(TargetKind)
    # Nothing was connected yet, and letting go of nothing is fine, twice too.
    await target.close()
    await target.close()


def test_local_workers_are_whatever_the_caller_makes() -> None:
    made = target_of("billing", SPECS[0][0], never)
    assert target_of("billing", LocalSpec(), lambda: made) is made


async def test_without_lightkube_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "streamops.targets.kubernetes_client", None)
    target = KubernetesTarget(KubernetesSpec(name="billing"))
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        target.read,
        lambda: target.resize(2, PoolSize(ordered=1), reason="", key=""),
    )
    for call in calls:
        with pytest.raises(TargetError) as told:
            await call()
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
