"""How Prometheus is asked: by the job and instance chosen, and for as long as is shown."""

import re

import promql_parser as promql

from tests.support.dashboards.series import EXPORTED, WORKERS, selectors_of
from tests.support.dashboards.shown import BOARDS, asks_of, put_in, values_of
from tests.support.tables import table


@table("uid", BOARDS)
def test_selectors_keep_to_the_job_and_instance_chosen(uid: str) -> None:
    for ask in asks_of(BOARDS[uid]):
        asked = ask.expr
        for name in ("job", "instance", "worker_job", "worker_instance"):
            asked = re.sub(rf"\${name}\b", f"<{name}>", asked)
        for selector in selectors_of(promql.parse(put_in(asked, values_of(BOARDS[ask.board])))):
            matchers = {(one.name, str(one.op), one.value) for one in selector.matchers.matchers}
            prefix = "worker_" if selector.name in WORKERS else ""
            if selector.name in EXPORTED or prefix:
                for name in ("job", "instance"):
                    wanted = [(at, op) for label, op, at in matchers if label == name]
                    assert wanted == [(f"<{prefix}{name}>", "MatchOp.Re")], ask.expr


@table("uid", BOARDS)
def test_counters_are_asked_how_fast_they_grow(uid: str) -> None:
    """Over the interval that fits the picture's resolution, or over all the time that is shown."""
    for ask in asks_of(BOARDS[uid]):
        windows = re.findall(r"(\w+)\((\w+)\{[^}]*\}\[([^\]]+)\]\)", ask.expr)
        for function, _, window in windows:
            assert (function, window) in {
                ("rate", "$__rate_interval"),
                ("increase", "$__rate_interval"),
                ("increase", "$__range"),
            }, ask.expr
        counted = re.findall(r"(\w+_(?:total|bucket|sum|count))\{", ask.expr)
        assert sorted(counted) == sorted(name for _, name, _ in windows), ask.expr


@table("uid", BOARDS)
def test_what_is_asked_for_one_moment_is_shown_as_one(uid: str) -> None:
    for ask in asks_of(BOARDS[uid]):
        if ask.kind in {"table", "bargauge"}:
            assert ask.instant, ask.name
        if ask.kind in {"timeseries", "heatmap", "state-timeline"}:
            assert not ask.instant, ask.name
        if "$__range]" in ask.expr:
            assert ask.instant, ask.name
