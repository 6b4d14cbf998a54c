"""Writes ``docs/commands``, ``docs/metrics.md``, ``docs/configuration.md`` and the table of ``docs/numbers.md``, from what they are about.

python -m docs.reference           write them
python -m docs.reference --check   say what is out of date, and fail
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from msgspec import NODEFAULT, Struct

from docs.worker_families import SECTION, WORKER_FAMILIES
from streamops.cli.command import CommandGroup, Member
from streamops.cli.commands.about import what_all_take
from streamops.exporter.catalogue import SECTIONS
from streamops.exporter.families import MetricFamily
from streamops.main.program import PROGRAM, ROOT
from streamops.model.config_keys import config_keys, toml
from streamops.resources.groups import GROUP_COLUMNS
from streamops.settings.tables import ConfigTable
from streamops.webhooks.metrics import DURATION, DURATION_HELP, FAMILIES, PREFIX

ROOT_DIRECTORY = Path(__file__).parent.parent
COMMANDS_FILE = ROOT_DIRECTORY / "docs" / "commands.md"
COMMANDS = ROOT_DIRECTORY / "docs" / "commands"
METRICS_FILE = ROOT_DIRECTORY / "docs" / "metrics.md"
SETTINGS_FILE = ROOT_DIRECTORY / "docs" / "configuration.md"
NUMBERS_FILE = ROOT_DIRECTORY / "docs" / "numbers.md"
BEGIN, END = "<!-- numbers: written by make docs -->", "<!-- /numbers -->"
WIDTH = 100
COMMANDS_PREFACE = """# Commands

Written by `make docs` from `--help`. Global options stand before or after any command: [`streamops options`](commands/options.md).
"""
METRICS_PREFACE = """# Metrics

Written by `make docs` from the families in `streamops/exporter`.

A value that is not known is absent, never zero. Timestamps are seconds since the epoch by the server's clock; an
entry ID that is no plausible time has none, and an instant of a consumer that lies more than a minute ahead of that
clock, because it was set back, is not known. Timestamps made of idle times have a resolution of a tenth of a second. `db` is
the number of the database, 0 on a cluster. Bytes of a name that are no UTF-8 print as `\\xNN`. Streams include
dead-letter queues and retry streams (`T:retry:GROUP`). Counters fall only to 0, after a stream or group was
out of sight for a quarter of an hour; metrics vanish with what they describe.
"""
SETTINGS_PREFACE = """# Configuration

Written by `make docs` from the tables that the code obeys. `streamops config example` prints a file to start from.

`~/.config/streamops/config.toml` is yours; the `streamops.toml` of the working directory wins over it, and may set what is
marked with * even if it is not trusted; `streamops config trust` lets it set the rest. Durations are `"250ms"`, `"30s"`,
`"1h30m"` or seconds; names of files begin with `~/`, or are relative to the directory of the file that names them.
"""
METRICS_HEAD = """| Metric | Type | Unit | Labels | Meaning | Source | Since | Cost |
|---|---|---|---|---|---|---|---|"""


def main() -> int:
    """Write or check the files; 1 where one is out of date."""
    wanted = {
        **render_commands(),
        METRICS_FILE: render_metrics(),
        SETTINGS_FILE: render_settings(),
        NUMBERS_FILE: render_numbers(NUMBERS_FILE.read_text()),
    }
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    gone = [path for path in COMMANDS.glob("*.md") if path not in wanted]
    if "--check" in sys.argv[1:]:
        for path in (*stale, *gone):
            sys.stderr.write(f"{path.relative_to(ROOT_DIRECTORY)} is out of date: run `make docs`\n")
        return 1 if stale or gone else 0
    COMMANDS.mkdir(exist_ok=True)
    for path in gone:
        path.unlink()
    for path in stale:
        path.write_text(wanted[path])
    return 0


def render_commands() -> dict[Path, str]:
    """The help of every command, as Markdown: a page for each name below ``streamops``, and a list of them."""
    root = click.Context(ROOT, info_name=PROGRAM, terminal_width=WIDTH)
    listed = [COMMANDS_PREFACE]
    pages = {}
    for heading, names in ROOT.sections.items():
        listed += [f"## {heading}", "", "| Command | What it does |", "|---|---|"]
        for name in names:
            command = ROOT.get_command(root, name)
            assert command is not None  # noqa: S101 - it is a member
            page = f"{name}.md"
            listed += _command_rows(ROOT.members[name], f"{PROGRAM} {name}", f"commands/{page}")
            pages[COMMANDS / page] = _command_page(name, command, root)
        listed.append("")
    return {COMMANDS_FILE: "\n".join(listed), **pages}


def _command_rows(member: Member, words: str, link: str) -> Iterator[str]:
    yield f"| [`{words}`]({link}) | {member.summary} |"
    if isinstance(member, CommandGroup):
        page = link.partition("#")[0]
        for name, below in member.members.items():
            called = f"{words} {name}"
            yield from _command_rows(below, called, f"{page}#{called.replace(' ', '-')}")


def _command_page(name: str, command: click.Command, root: click.Context) -> str:
    parts = [f"# {PROGRAM} {name}", "", "Written by `make docs` from `--help`.", ""]
    context = click.Context(command, info_name=name, parent=root, terminal_width=WIDTH)
    for words, at in walk(command, context):
        heading = f"## `{words}`" if words != f"{PROGRAM} {name}" else ""
        parts += [*((heading, "") if heading else ()), "```text", at.get_help().rstrip(), "```", ""]
    if name == "options":
        parts += ["```text", what_all_take(root), "```", ""]
    return "\n".join(parts)


def render_metrics() -> str:
    """The catalogue of metrics, and what redis_exporter calls them, as Markdown."""
    parts = [METRICS_PREFACE]
    for title, families in {**SECTIONS, SECTION: WORKER_FAMILIES}.items():
        parts += [f"## {title}\n", METRICS_HEAD, *map(_metric_row, families), ""]
    parts += ["## Webhooks' own endpoint: `streamops webhooks serve --metrics`\n", *_webhook_rows(), ""]
    rows = (
        f"| `{theirs}` | {f'`streamops_{ours}`' if ours else 'none'} | {words} |"
        for theirs, (ours, words) in REDIS_EXPORTER.items()
    )
    return "\n".join([*parts, REDIS_EXPORTER_PREFACE, *rows, ""])


def _webhook_rows() -> Iterator[str]:
    yield "| Metric | Type | Labels | Meaning |"
    yield "|---|---|---|---|"
    for name, text, labels in FAMILIES:
        shown = ", ".join(f"`{label}`" for label in ("topic", *labels))
        yield f"| `{PREFIX}_{name}_total` | counter | {shown} | {text} |"
    yield f"| `{PREFIX}_{DURATION}` | histogram | `topic` | {DURATION_HELP} |"


THE_SAME: Final = "the same number"
SECONDS: Final = "milliseconds there, seconds here; absent here where it is no time, 0 there"
REDIS_EXPORTER: Final[dict[str, tuple[str, str]]] = {
    "redis_stream_length": ("stream_length", THE_SAME),
    "redis_stream_groups": ("stream_groups", THE_SAME),
    "redis_stream_entries_added_total": (
        "stream_entries_added_total",
        "goes on here where a stream is made anew",
    ),
    "redis_stream_first_entry_id": ("stream_first_entry_timestamp_seconds", SECONDS),
    "redis_stream_last_entry_id": (
        "stream_last_generated_timestamp_seconds",
        "the highest ID ever, deleted or not; milliseconds there, seconds here",
    ),
    "redis_stream_last_generated_id": ("stream_last_generated_timestamp_seconds", SECONDS),
    "redis_stream_max_deleted_entry_id": ("stream_max_deleted_timestamp_seconds", SECONDS),
    "redis_stream_group_consumers": ("group_consumers", THE_SAME),
    "redis_stream_group_messages_pending": ("group_pending_entries", THE_SAME),
    "redis_stream_group_last_delivered_id": ("group_last_delivered_timestamp_seconds", SECONDS),
    "redis_stream_group_entries_read": (
        "group_delivered_entries_total",
        "a counter here, which a rewind does not lower; there what the server counts, 0 where it does not know",
    ),
    "redis_stream_group_lag": (
        "group_lag_entries",
        "there what the server says, 0 where it does not know; here counted, or absent with `group_lag_known` 0 and bounds",
    ),
    "redis_stream_group_consumer_messages_pending": ("consumer_pending_entries", THE_SAME),
    "redis_stream_group_consumer_idle_seconds": (
        "consumer_last_seen_timestamp_seconds",
        "`time()` less this: an age does not stand still between two scrapes",
    ),
    "redis_stream_radix_tree_keys": ("", "describes the server's own data structure"),
    "redis_stream_radix_tree_nodes": ("", "the same"),
}
"""What redis_exporter tells of streams: our name without its prefix, and how the two differ."""
REDIS_EXPORTER_PREFACE: Final = """\
## Coming from redis_exporter

Its label `db` is `db0` where it is `0` here. It needs the streams' names (`-check-streams`); here all are found.

| redis_exporter | Here | How they differ |
|---|---|---|"""


def _metric_row(family: MetricFamily) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels) or "none"
    cells = (
        f"`{family.name}`",
        family.kind.value,
        family.unit or "none",
        labels,
        family.help,
        family.source,
        f"Redis {family.since}" if family.since else "",
        family.cost,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def render_settings() -> str:
    """The keys of all tables, as Markdown."""
    return "\n".join([SETTINGS_PREFACE, "## A file", "", *_settings_rows(ConfigTable, "")])


def _settings_rows(table: type[Struct], place: str) -> Iterator[str]:
    keys = config_keys(table).values()
    values = [key for key in keys if key.table is None]
    yield from ("| Key | Default | Meaning |", "|---|---|---|") if values else ()
    for key in values:
        default = (
            "required"
            if key.default is NODEFAULT
            else toml(key.default)
            if key.default not in (None, (), {})
            else ""
        )
        cells = f"`{key.name}`{'*' if key.project else ''}", f"`{default}`" if default else "", key.text
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""
    for key in keys:
        if key.table is not None:
            name = f"{place}{key.name}{'.NAME' if key.named else ''}"
            head = f"[[{name}]]" if key.rows else f"[{name}]"
            yield from (
                f"## `{head}`",
                "",
                f"{key.text[0].upper()}{key.text[1:]}." if key.text[0].isalpha() else f"{key.text}.",
                "",
            )
            yield from _settings_rows(key.table, f"{name}.")


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """A command and everything below it, with the words that call it."""
    yield context.command_path, context
    if isinstance(command, CommandGroup):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None:
                yield from walk(
                    member, click.Context(member, parent=context, info_name=name, terminal_width=WIDTH)
                )


def render_numbers(text: str) -> str:
    """The page with its table of numbers renewed."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [f"| {column.title} | {column.help.replace('|', chr(92) + '|')} |" for column in GROUP_COLUMNS]
    table = "\n".join(["| Column | What it means |", "|---|---|", *rows])
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
