"""Draws the Grafana boards as pictures: from their files, and what a real Prometheus answers about the demo.

The exporter, a worker with metrics and Prometheus run on the demo's server for a while; then each panel's
queries are asked and drawn plainly, by the board's own grid, units, thresholds and names. Needs Debian's ``prometheus``.

python -m docs.board_pictures [SECONDS]
"""

import asyncio
import math
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from dashboards.boards import links
from streamops.demo.running import running_demo
from streamops.model.text import safe
from streamops.service.processes import module_command, module_environment
from tests.support.dashboards.shown import PATHS, put_in, read_boards, values_of, written
from tests.support.prometheus import RunningProgram, RunningPrometheus

FOLDER: Final = Path(__file__).parent / "boards"
ROOT: Final = Path(__file__).parents[1]
SECONDS: Final = 240
SCRAPED: Final = "2s"
RATE_INTERVAL: Final = "20s"
POINTS: Final = 60
"""Of a line."""
CHOSEN: Final = {links.STREAM: ("orders:events",), links.SCALING: ("orders:events", "parcels:outgoing")}
"""Which streams a board is about, rather than about all."""


class Answer(Struct, frozen=True):
    """What Prometheus said to a panel.

    Attributes:
        start: The time that the board shows, in Unix seconds.
        end: Its end.
        results: For each query its series, as in Prometheus's JSON.
    """

    start: float
    end: float
    results: tuple[list[dict[str, Any]], ...] = ()

    @property
    def step(self) -> float:
        """Seconds from one point to the next."""
        return (self.end - self.start) / POINTS


def main() -> int:
    """Draw the pictures."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    answers = asyncio.run(asked(seconds))
    FOLDER.mkdir(exist_ok=True)
    for path, board in zip(PATHS, read_boards(), strict=True):
        (FOLDER / f"{path.stem}.svg").write_text(draw_board(board, answers[board["uid"]]))
    return 0


async def asked(seconds: int) -> dict[str, list[Answer]]:
    """What a Prometheus that scraped the demo for a while answers to each board's panels."""
    async with running_demo() as options:
        with ExitStack() as stack:
            prometheus = stack.enter_context(_scraping(stack, options.label))
            await asyncio.sleep(seconds)
            end = float(prometheus.get("/api/v1/query", query="time()")["data"]["result"][0])
            return {board["uid"]: list(_answers(prometheus, board, end, seconds)) for board in read_boards()}


def _scraping(stack: ExitStack, url: str) -> RunningPrometheus:
    apps = ROOT / "grafana" / "worker"
    environ = {"STREAMOPS_URL": url, "PYTHONPATH": f"{apps}:{module_environment()['PYTHONPATH']}"}

    def exporter(_: Path, port: int) -> list[str]:
        return module_command("streamops", "exporter", "--listen", f"127.0.0.1:{port}")

    def worker(_: Path, port: int) -> list[str]:
        run = ("run", "notices:app", "--pool", "notices", "--metrics", f"127.0.0.1:{port}")
        return module_command("streamops", *run)

    ports = {
        "streamops": stack.enter_context(RunningProgram(exporter, "/-/healthy", environ)).port,
        "streamops-workers": stack.enter_context(RunningProgram(worker, "/-/ready", environ)).port,
    }
    return RunningPrometheus(
        {
            "global": {"scrape_interval": SCRAPED, "scrape_timeout": SCRAPED, "evaluation_interval": SCRAPED},
            "rule_files": [str(ROOT / "dashboards" / "streamops.rules.yml")],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                for job, port in ports.items()
            ],
        }
    )


def _answers(
    prometheus: RunningPrometheus, board: dict[str, Any], end: float, seconds: int
) -> Iterator[Answer]:
    streams = CHOSEN.get(board["uid"], ())
    chosen = {"stream": "|".join(written(name, many=len(streams) > 1) for name in streams)} if streams else {}
    values = values_of(board, __rate_interval=RATE_INTERVAL, __range=f"{seconds}s", **chosen)
    answer = Answer(end - seconds, end)
    span = {"start": str(answer.start), "end": str(end), "step": str(answer.step)}
    for panel in board["panels"]:
        results = []
        for target in panel.get("targets", ()):
            query = put_in(target["expr"], values)
            kind = ("query", {"time": str(end)}) if target["instant"] else ("query_range", span)
            results.append(prometheus.get(f"/api/v1/{kind[0]}", query=query, **kind[1])["data"]["result"])
        yield Answer(answer.start, end, tuple(results))


WIDTH: Final = 1280
COLUMN: Final = WIDTH / 24
ROW: Final = 34
GAP: Final = 3
HEADER: Final = 46
LEGEND: Final = 14
"""Height of a legend's line."""
CELL: Final = 20
"""Height of a table's row."""
PLAIN: Final = 999.5
"""From here on, three digits would be a power of ten."""
BACKGROUND, PANEL, LINE, FAINT, TEXT = "#111217", "#181b1f", "#2d3037", "#8e9099", "#d5d6dd"
COLOURS: Final = {"green": "#73bf69", "blue": "#5794f2", "orange": "#ff9830", "red": "#f2495c", "text": TEXT}
PALETTE: Final = (
    *("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#37872d"),
    *("#ffa6b0", "#1f60c4", "#96d98d", "#8f3bb8", "#3bd4d4", "#c4162a", "#9d8ec7", "#e5a8e2"),
)
HEAT: Final = ("#3a2413", "#6b3a12", "#a3540f", "#d9730d", "#ff9830", "#ffcb7d")
SCALES: Final[Mapping[str, tuple[tuple[float, str], ...]]] = {
    "s": ((1, " s"), (1e-6, " µs"), (1e-3, " ms"), (60, " min"), (3600, " h"), (86400, " days")),
    "short": ((1, ""), (1e3, " K"), (1e6, " Mil")),
    "bytes": ((1, " B"), (2**10, " KiB"), (2**20, " MiB"), (2**30, " GiB")),
    "percentunit": ((0.01, "%"),),
    "cps": ((1, " c/s"),),
    "cpm": ((1, " c/m"),),
    "none": ((1, ""),),
}
"""Grafana's units: what each counts in from which value on; the first for zero."""
LETTERS: Final = {**dict.fromkeys("fijlrtI.,:;|!'{}()[]/- ", 0.32), **dict.fromkeys("mwMW%@", 0.86)}
"""How wide letters are, as a share of their size, that are not 0.56."""

Point = tuple[float, float]
Row = dict[str, Any]


class Box(Struct, frozen=True):
    """A part of the picture, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height


class Series(Struct, frozen=True):
    """The answer to a query for one set of labels.

    Attributes:
        name: As the legend calls it.
        field: How the board shows it.
        points: Its values, each after its time.
    """

    name: str
    field: dict[str, Any]
    points: list[Point]

    @property
    def last(self) -> float:
        """The newest value."""
        return self.points[-1][1]

    @property
    def most(self) -> float:
        """The highest value."""
        return max(value for _, value in self.points)

    @property
    def fixed_colour(self) -> str | None:
        """The colour that the board gives it."""
        return COLOURS.get(self.field["color"].get("fixedColor", ""))


def draw_board(board: dict[str, Any], answers: Sequence[Answer]) -> str:
    """The board as SVG; an answer for each of its panels."""
    grid = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    height = HEADER + grid * ROW + 2 * GAP
    values = {"stream": " + ".join(CHOSEN.get(board["uid"], ("All",)))}
    variables = [each for each in board["templating"]["list"] if each["type"] == "query"]
    chosen = ", ".join(f"{each['label']}: {values.get(each['name'], 'All')}" for each in variables)
    font = 'font-family="Inter, Helvetica, Arial, sans-serif"'
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} fill="{TEXT}" stroke-linejoin="round">',
            rectangle(Box(0, 0, WIDTH, height), BACKGROUND),
            words(10, 20, board["title"], size=16, font_weight="bold"),
            words(10, 38, chosen, fill=FAINT),
            *map(draw_panel, board["panels"], answers),
            "</svg>\n",
        )
    )


def draw_panel(panel: dict[str, Any], answer: Answer) -> str:
    """One panel where it stands on its board."""
    at = panel["gridPos"]
    x, y = at["x"] * COLUMN + GAP, HEADER + at["y"] * ROW + GAP
    box = Box(x, y, at["w"] * COLUMN - 2 * GAP, at["h"] * ROW - 2 * GAP)
    if panel["type"] == "row":
        return words(x + 4, box.bottom - 7, f"▾ {panel['title']}", size=14, font_weight="bold")
    inner = Box(x + 10, y + 26, box.width - 20, box.height - 34)
    colour = PANEL
    if panel["type"] == "text":
        parts = _draw_text(panel, inner)
    elif series := series_of(panel, answer):
        if panel["type"] == "stat" and panel["options"]["colorMode"] == "background":
            colour = shown(series[0].last, series[0].field)[1]
        draw = {
            "stat": _draw_stat,
            "table": _draw_table,
            "timeseries": _draw_lines,
            "bargauge": _draw_bars,
            "state-timeline": _draw_spans,
            "heatmap": _draw_heat,
        }
        parts = draw[panel["type"]](panel, answer, series, inner)
    else:
        none = panel["fieldConfig"]["defaults"].get("noValue", "No data")
        parts = iter([_centred(inner, inner.y + inner.height / 2, none, fill=FAINT)])
    fill = TEXT if colour == PANEL else BACKGROUND
    title = words(x + 10, y + 18, panel["title"], room=inner.width + 8, font_weight="bold", fill=fill)
    return "\n".join((rectangle(box, colour, rx="2"), title, *parts))


def series_of(panel: dict[str, Any], answer: Answer) -> list[Series]:
    """The series of all its queries that have a number, by name."""
    found = []
    for target, results in zip(panel["targets"], answer.results, strict=True):
        for result in results:
            pairs = result.get("values") or [result["value"]]
            points = [(float(at), float(value)) for at, value in pairs if math.isfinite(float(value))]
            name = target["legendFormat"]
            for label in re.findall(r"{{(\w+)}}", name):
                name = name.replace(f"{{{{{label}}}}}", result["metric"].get(label, ""))
            if points:
                found.append(Series(name, field_of(panel, name), points))
    return sorted(found, key=lambda series: series.name)


def field_of(panel: dict[str, Any], name: str) -> dict[str, Any]:
    """How the board shows a series or column: its defaults, and what overrides them for this name."""
    field = dict(panel["fieldConfig"]["defaults"])
    for override in panel["fieldConfig"]["overrides"]:
        wanted = override["matcher"]["options"]
        by_name = override["matcher"]["id"] == "byName"
        if name == wanted if by_name else re.search(wanted.strip("/"), name):
            field |= {each["id"]: each["value"] for each in override["properties"]}
    return field


def table_of(panel: dict[str, Any], answer: Answer) -> tuple[list[str], list[Row]]:
    """The titles and rows of a table, as its transformations *merge* and *organize* make them, sorted."""
    organized = panel["transformations"][1]["options"]
    rename, index, hidden = (organized[key] for key in ("renameByName", "indexByName", "excludeByName"))
    merged: dict[frozenset[tuple[str, str]], Row] = {}
    for target, results in zip(panel["targets"], answer.results, strict=True):
        for result in results:
            row = merged.setdefault(frozenset(result["metric"].items()), dict(result["metric"]))
            row[f"Value #{target['refId']}"] = float(result["value"][1])
    names = {name for row in merged.values() for name in row} - hidden.keys()
    shown_names = sorted(names, key=lambda name: index.get(name, len(index)))
    rows = [
        {rename.get(name, name): row[name] for name in shown_names if name in row} for row in merged.values()
    ]
    for order in panel["options"]["sortBy"]:
        by = order["displayName"]
        some = sorted((row for row in rows if by in row), key=lambda row: row[by], reverse=order["desc"])
        rows = some + [row for row in rows if by not in row]
    return [rename.get(name, name) for name in shown_names], rows


def shown(value: float | str | None, field: Mapping[str, Any]) -> tuple[str, str]:
    """A value as the board writes it, and its colour."""
    for mapping in field.get("mappings", ()):
        if found := mapping["options"].get(f"{value:g}" if isinstance(value, float) else value):
            return found["text"], COLOURS[found["color"]]
    if not isinstance(value, float):
        return value or "", TEXT
    steps = field.get("thresholds", {}).get("steps", [{"value": None, "color": "text"}])
    colour = [step["color"] for step in steps if step["value"] is None or value >= step["value"]][-1]
    return number(value, field.get("unit", "none"), field.get("decimals")), COLOURS[colour]


def number(value: float, unit: str, decimals: int | None = None) -> str:
    """A value with its unit, in three digits where the board says nothing else."""
    size, ending = _scale(value, unit)
    value /= size
    digits = f".{decimals or 0}f" if decimals is not None or abs(value) >= PLAIN else ".3g"
    return f"{value:{digits}}{ending}"


def _scale(value: float, unit: str) -> tuple[float, str]:
    return max((scale for scale in SCALES[unit] if abs(value) >= scale[0]), default=SCALES[unit][0])


def axis(highest: float, unit: str) -> list[float]:
    """Where the labels of an axis stand: at round numbers of what the unit counts in, from zero to no less than the highest."""
    size, _ = _scale(highest, unit)
    quarter = highest / size / 4
    power = 10.0 ** math.floor(math.log10(quarter))
    step = size * next(factor * power for factor in (1, 2, 5, 10) if factor * power >= quarter)
    return [step * at for at in range(math.ceil(round(highest / step, 6)) + 1)]


def words(x: float, y: float, text: str, *, room: float = WIDTH, size: int = 12, **more: str) -> str:
    """A line of text, cut where it would be wider than its room."""
    whole = text = safe(text)
    while text and _width(text, size) > room:
        text = text[:-1]
    text = text if text == whole else f"{text[:-1]}…"
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}"{_attributes(more)}>{escape(text)}</text>'


def _width(text: str, size: int) -> float:
    return size * sum(LETTERS.get(letter, 0.56) for letter in text)


def rectangle(box: Box, fill: str, **more: str) -> str:
    """A filled box."""
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    return f'<rect {place} fill="{fill}"{_attributes(more)}/>'


def _stroke(path: str, colour: str, **more: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}"{_attributes(more)}/>'


def _attributes(more: Mapping[str, str]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())


def _centred(box: Box, y: float, text: str, **more: Any) -> str:
    return words(box.x + box.width / 2, y, text, text_anchor="middle", **more)


def _draw_text(panel: dict[str, Any], box: Box) -> Iterator[str]:
    plain = re.sub(r"[*`]", "", panel["options"]["content"])
    lines = [line for each in plain.splitlines() for line in textwrap.wrap(each, int(box.width / 6.2))]
    for at, line in enumerate(lines):
        yield words(box.x, box.y + 14 + 17 * at, line)


def _draw_stat(panel: dict[str, Any], answer: Answer, series: list[Series], box: Box) -> Iterator[str]:
    text, colour = shown(series[0].last, series[0].field)
    graph = panel["options"]["graphMode"] == "area"
    if graph:
        below = Box(box.x, box.bottom - 28, box.width, 28)
        yield _stroke(_path(_placed(series[0].points, answer, below, series[0].most or 1)), COLOURS["blue"])
    fill = BACKGROUND if panel["options"]["colorMode"] == "background" else colour
    middle = box.y + (26 if graph else box.height / 2 + 8)
    yield _centred(box, middle, text, size=26, fill=fill, font_weight="bold")


def _draw_table(panel: dict[str, Any], answer: Answer, _: list[Series], box: Box) -> Iterator[str]:
    titles, rows = table_of(panel, answer)
    fit = int(box.height / CELL) - 1
    columns = [
        [(title, COLOURS["blue"]), *(shown(row.get(title), field_of(panel, title)) for row in rows[:fit])]
        for title in titles
    ]
    widths = [max(_width(text, 11) for text, _ in column) + 8 for column in columns]
    spare = box.width - sum(widths)
    if spare < 0:
        widths[widths.index(max(widths))] += spare
    x = box.x
    for column, width in zip(columns, widths, strict=True):
        room = width + max(spare, 0) / len(columns)
        for at, (text, colour) in enumerate(column):
            yield words(x, box.y + CELL * at + 12, text, size=11, fill=colour, room=room - 4)
        x += room
    for at in range(1, len(columns[0])):
        yield rectangle(Box(box.x, box.y + CELL * at - 2, box.width, 0.5), LINE)
    if len(rows) > fit:
        more = f"{len(rows) - fit} more rows"
        yield words(box.right, box.y - 8, more, fill=FAINT, text_anchor="end")


def _draw_lines(panel: dict[str, Any], answer: Answer, series: list[Series], box: Box) -> Iterator[str]:
    defaults = panel["fieldConfig"]["defaults"]
    custom, unit = defaults["custom"], defaults["unit"]
    stacked = custom["stacking"]["mode"] == "normal"
    colours = [each.fixed_colour or PALETTE[at % len(PALETTE)] for at, each in enumerate(series)]
    lines = min(len(series), int(box.height * 0.42 / LEGEND) - 1)
    plot = Box(box.x + 52, box.y + 4, box.width - 58, box.height - LEGEND * (lines + 1) - 26)
    sums: dict[float, float] = {}
    layers = []
    for each in series:
        below = [(at, sums.get(at, 0.0)) for at, _ in each.points]
        sums |= {at: base + value for (at, base), (_, value) in zip(below, each.points, strict=True)}
        layers.append((below, [(at, sums[at]) for at, _ in each.points] if stacked else each.points))
    ticks = axis(defaults.get("max") or max(value for _, above in layers for _, value in above) or 1, unit)
    for tick in ticks:
        y = plot.bottom - plot.height * tick / ticks[-1]
        yield _stroke(f"M{plot.x:.0f} {y:.0f}h{plot.width:.0f}", LINE)
        yield words(plot.x - 6, y + 4, number(tick, unit), size=10, fill=FAINT, text_anchor="end")
    yield from _clock(answer, plot)
    for each, colour, (below, above) in zip(series, colours, layers, strict=True):
        upper = _placed(above, answer, plot, ticks[-1])
        if stacked:
            outline = _path([*upper, *reversed(_placed(below, answer, plot, ticks[-1]))])
            yield f'<path d="{outline}z" fill="{colour}" fill-opacity="0.6"/>'
        dash = "6 5" if "custom.lineStyle" in each.field else "none"
        yield _stroke(
            _path(upper, 1.6 * plot.width / POINTS), colour, stroke_width="1.4", stroke_dasharray=dash
        )
    if custom["thresholdsStyle"]["mode"] == "dashed":
        for step in defaults["thresholds"]["steps"]:
            if step["value"] is not None and step["value"] <= ticks[-1]:
                y = plot.bottom - plot.height * step["value"] / ticks[-1]
                path = f"M{plot.x:.0f} {y:.0f}h{plot.width:.0f}"
                yield _stroke(path, COLOURS[step["color"]], stroke_dasharray="8 4")
    listed = sorted(zip(series, colours, strict=True), key=lambda each: each[0].last, reverse=True)[:lines]
    yield from _legend(listed, len(series) - lines, unit, box)


def _legend(listed: list[tuple[Series, str]], hidden: int, unit: str, box: Box) -> Iterator[str]:
    heading = f"Name ({hidden} more)" if hidden else "Name"
    rows = [("", heading, "Last *", "Max")]
    rows += [(colour, each.name, number(each.last, unit), number(each.most, unit)) for each, colour in listed]
    for at, (colour, name, last, most) in enumerate(rows):
        y = box.bottom - LEGEND * (len(rows) - 1 - at)
        fill = TEXT if colour else COLOURS["blue"]
        if colour:
            yield rectangle(Box(box.x, y - 6, 12, 3), colour)
        yield words(box.x + (18 if colour else 0), y, name, size=11, fill=fill, room=box.width - 140)
        yield words(box.right - 62, y, last, size=11, fill=fill, text_anchor="end")
        yield words(box.right, y, most, size=11, fill=fill, text_anchor="end")


def _clock(answer: Answer, plot: Box) -> Iterator[str]:
    every = 60 * max(1, math.ceil((answer.end - answer.start) / 300))
    for moment in range(math.ceil(answer.start / 60) * 60, int(answer.end), every):
        ((x, _),) = _placed([(moment, 0)], answer, plot, 1)
        time = f"{datetime.fromtimestamp(moment, UTC):%H:%M}"
        yield words(x, plot.bottom + 14, time, size=10, fill=FAINT, text_anchor="middle")


def _placed(points: Sequence[Point], answer: Answer, box: Box, top: float) -> list[tuple[int, int]]:
    wide = box.width / (answer.end - answer.start)
    return [
        (round(box.x + wide * (at - answer.start)), round(box.bottom - box.height * min(value / top, 1)))
        for at, value in points
    ]


def _path(points: Sequence[tuple[int, int]], gap: float = math.inf) -> str:
    """Through all points; interrupted where two are further apart than a gap."""
    steps = "".join(
        f"{'m' if to_x - x > gap else 'l'}{to_x - x} {to_y - y}" for (x, y), (to_x, to_y) in pairwise(points)
    )
    return f"M{points[0][0]} {points[0][1]}{steps}"


def _draw_bars(_: dict[str, Any], __: Answer, series: list[Series], box: Box) -> Iterator[str]:
    names = max(_width(each.name, 12) for each in series) + 10
    height = min(26.0, box.height / len(series))
    most = max(each.last for each in series) or 1
    for at, each in enumerate(sorted(series, key=lambda each: each.last, reverse=True)):
        bar = Box(box.x + names, box.y + height * at + 3, box.width - names - 44, height - 6)
        text, colour = shown(each.last, each.field)
        yield words(box.x, bar.bottom - 5, each.name, room=names)
        yield rectangle(bar, LINE)
        yield rectangle(
            Box(bar.x, bar.y, bar.width * each.last / most, bar.height), each.fixed_colour or colour
        )
        yield words(box.right, bar.bottom - 5, text, text_anchor="end")


def _draw_spans(_: dict[str, Any], answer: Answer, series: list[Series], box: Box) -> Iterator[str]:
    names = max(_width(each.name, 12) for each in series) + 10
    plot = Box(box.x + names, box.y, box.width - names, box.height - 16)
    height, wide = plot.height / len(series), plot.width / (POINTS + 1)
    for at, each in enumerate(series):
        middle = round(plot.y + height * (at + 0.5))
        placed = _placed(each.points, answer, Box(plot.x, plot.y, plot.width - wide, height), 1)
        path = "".join(f"M{x} {middle}h{math.ceil(wide)}" for x, _ in placed)
        yield words(box.x, middle + 4, each.name)
        yield _stroke(path, each.fixed_colour or TEXT, stroke_width=f"{height * 0.8:.0f}")
    yield from _clock(answer, plot)


def _draw_heat(_: dict[str, Any], answer: Answer, series: list[Series], box: Box) -> Iterator[str]:
    series = sorted(series, key=lambda each: float(each.name))
    plot = Box(box.x + 52, box.y + 4, box.width - 58, box.height - 24)
    counts: list[dict[float, float]] = [{}, *(dict(each.points) for each in series)]
    # Prometheus's buckets hold all that is below their bound; Grafana shows what is between two.
    between = [
        {at: value - lower.get(at, 0) for at, value in upper.items()} for lower, upper in pairwise(counts)
    ]
    most = max(value for bucket in between for value in bucket.values()) or 1
    wide, height = plot.width / (POINTS + 1), plot.height / len(series)
    for at, (each, bucket) in enumerate(zip(series, between, strict=True)):
        row = Box(plot.x, plot.bottom - height * (at + 1), plot.width - wide, height)
        label = "+Inf" if each.name == "+Inf" else number(float(each.name), "s")
        yield words(plot.x - 6, row.y + height / 2 + 4, label, size=10, fill=FAINT, text_anchor="end")
        for moment, value in bucket.items():
            ((x, _y),) = _placed([(moment, 0)], answer, row, 1)
            colour = HEAT[min(int(math.sqrt(max(value, 0) / most) * len(HEAT)), len(HEAT) - 1)]
            if value > 0:
                yield rectangle(Box(x, row.y, wide - 1, height - 1), colour)
    yield from _clock(answer, plot)


if __name__ == "__main__":
    sys.exit(main())
