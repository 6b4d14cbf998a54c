"""What Grafana's dashboard linter asks for, and what a stranger on call needs: on every board, of every panel."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dashboards.boards import links
from tests.support.dashboards.shown import BOARDS, VARIABLE, asks_of, charts_of, panels_of
from tests.support.tables import table

UNITS = {"none", "short", "s", "bytes", "percentunit", "cps", "cpm", "ops"}
ON_EVERY_BOARD = ["datasource", "job", "instance"]
BUILT_IN = re.compile(r"^__")
WIDTH = 24


def test_boards_have_ids_and_titles_of_their_own() -> None:
    uids = {links.OVERVIEW, links.STREAM, links.WORKERS, links.LETTERS, links.SCALING}
    assert set(BOARDS) == uids
    assert all(re.fullmatch(r"[a-z-]{8,40}", uid) for uid in uids)
    assert len({board["title"] for board in BOARDS.values()}) == len(uids)


@table("board", BOARDS.values())
def test_a_board_says_what_it_is_for(board: dict[str, Any]) -> None:
    assert board["title"].startswith("streamops / ")
    assert len(board["description"]) > 50
    assert links.TAG in board["tags"]
    assert board["refresh"] == "30s"
    assert board["time"] == {"from": "now-1h", "to": "now"}
    assert board["editable"] is False
    assert "id" not in board


@table("board", BOARDS.values())
def test_a_board_shows_when_alerts_fired(board: dict[str, Any]) -> None:
    own, firing = board["annotations"]["list"]
    assert own["builtIn"] == 1
    assert firing["expr"].startswith('ALERTS{alertstate="firing"')
    assert firing["target"]["expr"] == firing["expr"]


@table("board", BOARDS.values())
def test_the_data_source_is_a_variable(board: dict[str, Any]) -> None:
    variable = board["templating"]["list"][0]
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
    assert (variable["name"], variable["label"]) == ("datasource", "Data source")
    wanted = {"type": "prometheus", "uid": "${datasource}"}
    assert all(panel["datasource"] == wanted for panel in charts_of(board))
    assert all(target["datasource"] == wanted for panel in charts_of(board) for target in panel["targets"])
    assert all(one["datasource"] == wanted for one in board["templating"]["list"] if one["type"] == "query")


@table("board", BOARDS.values())
def test_job_and_instance_are_variables_of_many(board: dict[str, Any]) -> None:
    variables = board["templating"]["list"]
    assert [one["name"] for one in variables[:3]] == ON_EVERY_BOARD
    for variable in variables:
        if variable["name"].rpartition("_")[2] in {"job", "instance"}:
            assert variable["multi"]
            assert variable["includeAll"]
            assert variable["allValue"] == ".+"


@table("board", BOARDS.values())
def test_variables_are_asked_anew_when_the_time_changes(board: dict[str, Any]) -> None:
    for variable in board["templating"]["list"][1:]:
        assert variable["refresh"] == 2
        assert variable["label"]
        assert variable["description"]


@table("board", BOARDS.values())
def test_every_variable_is_used_and_every_one_used_exists(board: dict[str, Any]) -> None:
    there = [variable["name"] for variable in board["templating"]["list"]]
    assert len(set(there)) == len(there)
    used = {name for ask in asks_of(board) for name in _variables(ask.expr)}
    for variable in board["templating"]["list"][1:]:
        before = there[: there.index(variable["name"])]
        assert set(_variables(variable["query"]["query"])) <= set(before)
    assert used | {"datasource"} == set(there)


@table("board", BOARDS.values())
def test_panels_say_what_they_show(board: dict[str, Any]) -> None:
    for panel in panels_of(board):
        assert panel["title"], panel["id"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["description"] != f"{panel['title']}."


@table("board", BOARDS.values())
def test_panels_have_units_and_words_for_nothing(board: dict[str, Any]) -> None:
    for panel in charts_of(board):
        fields = panel["fieldConfig"]
        assert fields["defaults"]["noValue"], panel["title"]
        if panel["type"] != "table":
            assert fields["defaults"]["unit"] in UNITS, panel["title"]
            continue
        units = {
            override["matcher"]["options"]: prop["value"]
            for override in fields["overrides"]
            for prop in override["properties"]
            if prop["id"] == "unit"
        }
        assert set(units) == {target["legendFormat"] for target in panel["targets"]}, panel["title"]
        assert set(units.values()) <= UNITS


@table("board", BOARDS.values())
def test_numbers_that_mean_something_are_coloured(board: dict[str, Any]) -> None:
    """The first line of every board is what is seen from across the room."""
    first = [panel for panel in panels_of(board) if panel["gridPos"]["y"] == 1]
    assert all(panel["type"] == "stat" for panel in first)
    coloured = [panel for panel in first if len(panel["fieldConfig"]["defaults"]["thresholds"]["steps"]) > 1]
    assert len(coloured) >= len(first) / 3


@table("board", BOARDS.values())
def test_thresholds_of_each_panel_rise(board: dict[str, Any]) -> None:
    for panel in charts_of(board):
        for steps in _thresholds(panel):
            values = [step["value"] for step in steps[1:]]
            assert steps[0]["value"] is None
            assert values == sorted(set(values)), panel["title"]


@table("board", BOARDS.values())
def test_every_series_has_a_name(board: dict[str, Any]) -> None:
    for panel in charts_of(board):
        assert panel["targets"], panel["title"]
        for target in panel["targets"]:
            assert target["legendFormat"] not in {"", "__auto"}, panel["title"]
        if panel["type"] == "timeseries":
            assert panel["options"]["legend"]["showLegend"], panel["title"]


@table("board", BOARDS.values())
def test_references_within_a_board_are_unique(board: dict[str, Any]) -> None:
    ids = Counter(panel["id"] for panel in board["panels"])
    assert set(ids.values()) == {1}
    for panel in charts_of(board):
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs), panel["title"]


@table("board", BOARDS.values())
def test_titles_are_unique_within_a_section(board: dict[str, Any]) -> None:
    heading = ""
    titles = Counter[tuple[str, str]]()
    for panel in board["panels"]:
        if panel["type"] == "row":
            heading = panel["title"]
        else:
            titles[heading, panel["title"]] += 1
    assert set(titles.values()) == {1}


@table("board", BOARDS.values())
def test_panels_fill_the_grid_and_do_not_overlap(board: dict[str, Any]) -> None:
    cells = Counter(
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    )
    height = max(y for _, y in cells) + 1
    assert set(cells) == {(x, y) for x in range(WIDTH) for y in range(height)}
    assert set(cells.values()) == {1}


@table("board", BOARDS.values())
def test_an_override_is_about_a_series_of_its_panel(board: dict[str, Any]) -> None:
    for panel in charts_of(board):
        names = [target["legendFormat"] for target in panel["targets"]]
        renamed = [
            new
            for change in panel.get("transformations", ())
            for new in change["options"].get("renameByName", {}).values()
        ]
        for override in panel["fieldConfig"]["overrides"]:
            matcher = override["matcher"]
            if matcher["id"] == "byName" and not any(_is_one_of(matcher["options"], name) for name in names):
                assert matcher["options"] in renamed, (panel["title"], matcher)


def _variables(text: str) -> Iterator[str]:
    for found in VARIABLE.finditer(text):
        name = found[1] or found[2]
        if not BUILT_IN.match(name):
            yield name


def _is_one_of(name: str, legend: str) -> bool:
    pattern = re.escape(legend).replace(r"\{\{", "{{").replace(r"\}\}", "}}")
    return re.fullmatch(re.sub(r"\{\{\w+\}\}", ".+", pattern), name) is not None


def _thresholds(panel: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    fields = panel["fieldConfig"]
    if "thresholds" in fields["defaults"]:
        yield fields["defaults"]["thresholds"]["steps"]
    for override in fields["overrides"]:
        for prop in override["properties"]:
            if prop["id"] == "thresholds":
                yield prop["value"]["steps"]
