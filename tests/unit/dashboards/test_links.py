"""Links between boards lead somewhere, and take along what is chosen."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards.boards import links
from tests.support.dashboards.shown import BOARDS, charts_of
from tests.support.tables import table

LINKED = re.compile(r"^/d/(?P<uid>[a-z-]+)\?(?P<query>.+)$")
CELL = re.compile(r"\$\{__data\.fields\.(\w+):percentencode\}")


@table("board", BOARDS.values())
def test_a_board_leads_to_the_others(board: dict[str, Any]) -> None:
    (link,) = board["links"]
    assert link["type"] == "dashboards"
    assert link["tags"] == [links.TAG]
    assert link["includeVars"]
    assert link["keepTime"]


@table("board", BOARDS.values())
def test_links_lead_to_boards_with_variables_that_both_have(board: dict[str, Any]) -> None:
    ours = {variable["name"] for variable in board["templating"]["list"]}
    for panel, url in _links(board):
        found = LINKED.match(url)
        assert found, url
        theirs = {variable["name"] for variable in BOARDS[found["uid"]]["templating"]["list"]}
        for part in found["query"].split("&"):
            name, equals, _ = part.partition("=")
            if equals:
                assert name.removeprefix("var-") in theirs, url
            elif part != "${__url_time_range}":
                taken = part.removeprefix("${").removesuffix(":queryparam}")
                assert taken in ours & theirs, url
        for field in CELL.findall(url):
            shown = panel["transformations"][1]["options"]["renameByName"]
            assert field in shown, (panel["title"], field)


@pytest.mark.parametrize("uid", [links.OVERVIEW, links.WORKERS, links.LETTERS])
def test_tables_of_streams_lead_to_the_stream(uid: str) -> None:
    for panel in charts_of(BOARDS[uid]):
        columns = panel["transformations"][1]["options"]["renameByName"] if panel["type"] == "table" else {}
        if "stream" in columns:
            urls = [url for one, url in _links(BOARDS[uid]) if one is panel]
            assert any(url.startswith(f"/d/{links.STREAM}?") for url in urls), panel["title"]


def _links(board: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for panel in charts_of(board):
        fields = panel["fieldConfig"]
        for link in fields["defaults"].get("links", ()):
            yield panel, link["url"]
        for override in fields["overrides"]:
            for prop in override["properties"]:
                for link in prop["value"] if prop["id"] == "links" else ():
                    yield panel, link["url"]
