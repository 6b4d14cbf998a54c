"""The pictures of the Grafana boards: each board has one on its page, and a panel's picture says what Prometheus answered."""

from typing import Any, Final
from xml.etree import ElementTree as ET

from docs.board_pictures import FOLDER, Answer, draw_panel
from docs.reference import ROOT_DIRECTORY
from tests.support.dashboards.shown import BOARDS, PATHS

OVERVIEW: Final = BOARDS["streamops-overview"]
PAGE: Final = (ROOT_DIRECTORY / "docs" / "exporter.md").read_text()


def test_each_board_has_its_picture_on_the_page() -> None:
    wanted = {f"{path.stem}.svg" for path in PATHS}
    assert {path.name for path in FOLDER.iterdir()} == wanted
    assert [name for name in sorted(wanted) if f"](boards/{name})" not in PAGE] == []
    for name in wanted:
        ET.parse(FOLDER / name)  # noqa: S314 - our own file


def panel(title: str, kind: str) -> dict[str, Any]:
    (found,) = [one for one in OVERVIEW["panels"] if (one["title"], one["type"]) == (title, kind)]
    return dict(found)


def drawn(panel: dict[str, Any], *results: list[dict[str, Any]]) -> ET.Element:
    svg = draw_panel(panel, Answer(start=0.0, end=60.0, results=results))
    return ET.fromstring(f"<svg>{svg}</svg>")  # noqa: S314 - our own text


def texts(svg: ET.Element) -> list[str]:
    return [text.text or "" for text in svg.iter("text")]


def test_lines_have_an_axis_a_legend_and_gaps_where_there_was_no_answer() -> None:
    values = [[0, "1048576"], [1, "2097152"], [30, "NaN"], [59, "1572864"], [60, "1572864"]]
    used = [{"metric": {"address": "<a&b>"}, "values": values}]
    svg = drawn(panel("Memory", "timeseries"), used, [])
    assert texts(svg) == [
        *("Memory", "0 B", "512 KiB", "1 MiB", "1.5 MiB", "2 MiB", "00:00"),
        *("Name", "Last *", "Max", "<a&b>", "1.5 MiB", "2 MiB"),
    ]
    (line,) = [path.get("d", "") for path in svg.iter("path") if path.get("stroke-width")]
    assert [step for step in line if step.isalpha()] == ["M", "l", "m", "l"]


def test_a_table_has_the_columns_of_the_board_sorted_by_its_wish() -> None:
    group = {"instance": "here", "db": "0", "stream": "orders", "code": "behind", "severity": "critical"}
    quick, slow = group | {"group": "quick"}, group | {"group": "slow"}
    pending = [{"metric": each, "value": [60, "1500"]} for each in (quick, slow)]
    age = [{"metric": quick, "value": [60, "30"]}, {"metric": slow, "value": [60, "5400"]}]
    svg = drawn(panel("Groups in trouble", "table"), pending, [], age, [])
    words = texts(svg)[1:]
    columns = [words[at : at + 3] for at in range(0, len(words), 3)]
    assert columns == [
        ["Instance", "here", "here"],
        ["Stream", "orders", "orders"],
        ["Group", "slow", "quick"],
        ["Finding", "behind", "behind"],
        ["Severity", "critical", "critical"],
        ["Pending", "1.5 K", "1.5 K"],
        ["Lag age", "1.5 h", "30 s"],
    ]
    assert [text.get("fill") for text in svg.iter("text") if text.text == "1.5 h"] == ["#f2495c"]
