"""Every expression parses, and speaks of metrics and labels that are in the catalogue."""

import re
from functools import cache

import promql_parser as promql

from dashboards.rules import COMPONENT, CRITICAL, INFO, WARNING
from streamops.model.observation import FindingCode
from streamops.model.pools import WorkerState
from tests.support.dashboards.series import (
    EXPORTED,
    KNOWN,
    WORKERS,
    labels_of,
    selectors_of,
)
from tests.support.dashboards.shown import BOARDS, asks_of, charts_of, put_in, values_of, written
from tests.support.tables import table

WORDS = re.compile(r"\{\{(\w+)\}\}")
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
FIELD_LABEL = re.compile(r"__field\.labels\.(\w+)")
# What a label like this may hold is the application's.
OPEN_LABELS = {"job", "instance", "stream", "source", "group", "queue", "pool"}


@cache
def parsed(uid: str, expr: str) -> promql.Expr:
    return promql.parse(put_in(expr, values_of(BOARDS[uid], stream="orders")))


@table("uid", BOARDS)
def test_an_expression_is_about_what_there_is(uid: str) -> None:
    for ask in asks_of(BOARDS[uid]):
        labels = labels_of(parsed(ask.board, ask.expr))
        assert labels is not None, ask.name
        missing = set(WORDS.findall(ask.legend)) - labels
        assert not missing, f"the legend of {ask.name} names {missing}"


@table("uid", BOARDS)
def test_an_expression_holds_for_awkward_names(uid: str) -> None:
    for ask in asks_of(BOARDS[uid]):
        awkward = 'a"b\\c{d}|e.f'
        variables = BOARDS[ask.board]["templating"]["list"]
        chosen = {
            one["name"]: written(awkward, many=one["multi"]) for one in variables if one["type"] == "query"
        }
        expr = promql.parse(put_in(ask.expr, values_of(BOARDS[ask.board], **chosen)))
        for selector in selectors_of(expr):
            for matcher in selector.matchers.matchers:
                if matcher.name in OPEN_LABELS and matcher.op == promql.MatchOp.Equal:
                    assert matcher.value == awkward, ask.name
                elif matcher.name in OPEN_LABELS:
                    assert re.fullmatch(matcher.value, awkward), ask.name


@table("uid", BOARDS)
def test_series_of_one_legend_differ_by_it_alone(uid: str) -> None:
    """Lines of one name cannot be told apart: what tells the series apart is in the legend, but for the instance."""
    for ask in asks_of(BOARDS[uid]):
        if ask.kind in {"table", "stat", "annotation"}:
            continue
        labels = labels_of(parsed(ask.board, ask.expr)) or frozenset()
        chosen = {"stream"} if ask.board == "streamops-stream" else set[str]()
        assert labels - {"instance", "job", "db"} <= set(WORDS.findall(ask.legend)) | chosen, ask.name


@table("uid", BOARDS)
def test_a_tables_columns_answer_with_the_same_rows(uid: str) -> None:
    for panel in (panel for panel in charts_of(BOARDS[uid]) if panel["type"] == "table"):
        answers = {labels_of(parsed(uid, target["expr"])) for target in panel["targets"]}
        assert len(answers) == 1, panel["title"]
        organized = panel["transformations"][1]["options"]
        named = {name for name in organized["renameByName"] if not name.startswith("Value")}
        hidden = {name for name, is_so in organized["excludeByName"].items() if is_so} - {"Time"}
        (labels,) = answers
        assert labels is not None
        assert named <= labels, panel["title"]
        assert labels <= named | hidden, panel["title"]


@table("uid", BOARDS)
def test_a_line_that_leads_to_its_stream_has_its_labels(uid: str) -> None:
    for panel in charts_of(BOARDS[uid]):
        links = panel["fieldConfig"]["defaults"].get("links", [])
        wanted = {label for link in links for label in FIELD_LABEL.findall(link["url"])}
        for target in panel["targets"] if wanted else ():
            assert wanted <= (labels_of(parsed(uid, target["expr"])) or frozenset()), panel["title"]


@table("uid", BOARDS)
def test_a_variable_lists_values_of_a_label_that_is_there(uid: str) -> None:
    queries = [one for one in BOARDS[uid]["templating"]["list"] if one["type"] == "query"]
    assert queries
    for variable in queries:
        found = LABEL_VALUES.fullmatch(variable["query"]["query"])
        assert found, variable
        assert variable["definition"] == variable["query"]["query"]
        assert found[2] in (labels_of(parsed(uid, found[1])) or ()), variable


@table("uid", BOARDS)
def test_a_matcher_of_a_closed_label_names_values_that_exist(uid: str) -> None:
    for ask in asks_of(BOARDS[uid]):
        known = {
            "status": {*FindingCode, "ok", "unknown"},
            "state": set(WorkerState),
            "alertstate": {"firing"},
            "severity": {CRITICAL, WARNING, INFO},
            "component": {COMPONENT},
        }
        for selector in selectors_of(parsed(ask.board, ask.expr)):
            for matcher in selector.matchers.matchers:
                if matcher.name not in OPEN_LABELS:
                    assert set(matcher.value.split("|")) <= known[matcher.name], ask.name


def test_every_family_is_shown_somewhere() -> None:
    shown = {
        selector.name
        for uid in BOARDS
        for ask in asks_of(BOARDS[uid])
        for selector in selectors_of(parsed(ask.board, ask.expr))
    }
    assert shown <= set(KNOWN)
    unseen = (set(EXPORTED) | set(WORKERS)) - shown
    assert unseen == {
        # What a variable chooses from, and an alert is about.
        "streamops_autoscaler_info",
        # For those who ask Prometheus themselves.
        "streamops_build_info",
        "streamops_entry_latency_seconds_count",
        "streamops_entry_latency_seconds_sum",
        "streamops_group_count_gaps_total",
        "streamops_notifications_total",
        "streamops_scrape_commands",
        "streamops_stream_groups",
        "streamops_stream_max_deleted_timestamp_seconds",
    }
