"""Tables: one row for each set of labels, one column for each thing asked about it."""

from typing import Final

from grafana_foundation_sdk.models import common, dashboard, table
from msgspec import Struct

from dashboards.boards.colours import Steps
from dashboards.boards.fields import Words, mappings, override, thresholds
from dashboards.boards.panels import bare_panel
from dashboards.boards.queries import Query, tabled

NEVER_SHOWN: Final = ("Time", "db")


class Label(Struct, frozen=True):
    """A column of names.

    Attributes:
        name: The label.
        title: What stands above it.
        link: Where a click leads.
        words: Colours of its values, where they have any.
        width: In pixels; shared out where none is given.
    """

    name: str
    title: str
    link: dashboard.DashboardLink | None = None
    words: Words | None = None
    width: int | None = None


class Column(Struct, frozen=True):
    """A column of numbers.

    Attributes:
        title: What stands above it.
        expr: The PromQL; all columns of a table answer with the same labels.
        unit: Grafana's name of the unit.
        steps: The colour of the cell from a value on.
        words: Words and colours instead of numbers.
        width: In pixels; shared out where none is given.
        decimals: How many decimals.
    """

    title: str
    expr: str
    unit: str
    steps: Steps = ()
    words: Words | None = None
    width: int | None = None
    decimals: int | None = None


def table_panel(
    title: str,
    description: str,
    labels: tuple[Label, ...],
    columns: tuple[Column, ...],
    *,
    by: str,
    none: str,
    upwards: bool = False,
    hidden: tuple[str, ...] = (),
) -> dashboard.Panel:
    """Rows by their labels.

    Args:
        title: Its name.
        description: What it is and what to do about it.
        labels: The columns of names.
        columns: The columns of numbers.
        by: The title of the column that it is sorted by, highest first.
        upwards: Lowest first instead.
        none: What it says where there is no row.
        hidden: Further columns of the answers that are not shown.
    """
    return bare_panel(
        "table",
        title,
        description,
        targets=tabled(tuple(Query(column.expr, column.title) for column in columns)),
        options=table.Options(
            show_header=True,
            cell_height=common.TableCellHeight.SM,
            sort_by=[common.TableSortByFieldState(display_name=by, desc=not upwards)],
        ),
        fields=dashboard.FieldConfig(
            no_value=none,
            custom=common.TableFieldOptions(align=common.FieldTextAlignment.AUTO, filterable=True),
        ),
        overrides=[*map(_name_override, labels), *map(_number_override, columns)],
        transformations=[
            dashboard.DataTransformerConfig(id_val="merge", options={}),
            dashboard.DataTransformerConfig(id_val="organize", options=_organized(labels, columns, hidden)),
        ],
    )


def _organized(
    labels: tuple[Label, ...], columns: tuple[Column, ...], hidden: tuple[str, ...]
) -> dict[str, object]:
    # Grafana leaves the letter out where one query alone has an answer: the one that says which rows there are.
    values = {f"Value #{chr(ord('A') + at)}": column.title for at, column in enumerate(columns)}
    names = {label.name: label.title for label in labels}
    named = names | {"Value": columns[0].title} | values
    return {
        "excludeByName": dict.fromkeys((*NEVER_SHOWN, *hidden), True),
        "indexByName": {name: at for at, name in enumerate(named)},
        "renameByName": named,
    }


def _name_override(label: Label) -> dashboard.DashboardFieldConfigSourceOverrides:
    coloured = common.TableColorTextCellOptions() if label.words else None
    return override(
        label.title,
        custom__width=label.width,
        custom__cellOptions=coloured,
        mappings=mappings(label.words) if label.words else None,
        links=[{"title": label.link.title, "url": label.link.url}] if label.link else None,
    )


def _number_override(column: Column) -> dashboard.DashboardFieldConfigSourceOverrides:
    coloured = common.TableColorTextCellOptions() if column.steps or column.words else None
    return override(
        column.title,
        unit=column.unit,
        decimals=column.decimals,
        custom__width=column.width,
        custom__cellOptions=coloured,
        thresholds=thresholds(column.steps) if column.steps else None,
        mappings=mappings(column.words) if column.words else None,
    )
