"""A closed JSON Schema of Grafana's dashboards, made of the types of Grafana's own SDK.

Every class becomes an object that has the keys which the class writes, and no others; what the SDK leaves open, the
options and fields of a panel, is closed by the panel's type.
"""

import importlib
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Literal, Union

from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common, dashboard, prometheus

Schema = dict[str, Any]

PLUGINS: Final = {
    "bargauge": "bargauge",
    "heatmap": "heatmap",
    "stat": "stat",
    "state-timeline": "statetimeline",
    "table": "table",
    "text": "text",
    "timeseries": "timeseries",
}
"""The modules of the panels that may be used."""

PLAIN: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    object: {},
    Any: {},
}

DATA_LINK: Final[Schema] = {
    "type": "object",
    "required": ["title", "url"],
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "url": {"type": "string", "pattern": r"^/d/streamops-[a-z-]+\?"},
        "targetBlank": {"type": "boolean"},
    },
}

NAMES: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
ORGANIZE: Final[Schema] = {
    "type": "object",
    "required": ["excludeByName", "indexByName", "renameByName"],
    "additionalProperties": False,
    "properties": {
        "excludeByName": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "indexByName": {"type": "object", "additionalProperties": {"type": "integer"}},
        "renameByName": NAMES,
    },
}
TRANSFORMATIONS: Final = {"merge": {"type": "object", "maxProperties": 0}, "organize": ORGANIZE}


class Maker:
    """Makes the schema, class by class."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:  # noqa: ANN401 - any annotation
        """What a value of a type may be."""
        if hint in PLAIN:
            return PLAIN[hint]
        if hint is Dataquery:
            return self.of(prometheus.Dataquery)
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in {Union, types.UnionType}:
            return {"anyOf": [self.of(part) for part in inner]}
        if origin is list:
            return {"type": "array", "items": self.of(inner[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if origin is Literal:
            return {"enum": list(inner)}
        if issubclass(hint, Enum):
            return {"enum": [member.value for member in hint]}
        return self._named(hint)

    def _named(self, made: type) -> Schema:
        name = f"{made.__module__.rpartition('.')[2]}.{made.__name__}"
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] |= self._object(made)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, made: type) -> Schema:
        hints = typing.get_type_hints(made)
        marks = {attribute: object() for attribute in hints}
        keys = {id(mark): attribute for attribute, mark in marks.items()}
        written = _written(made, marks)
        return {
            "type": "object",
            "additionalProperties": False,
            "required": sorted(_written(made, dict.fromkeys(hints))),
            "properties": {key: self.of(_given(hints[keys[id(mark)]])) for key, mark in written.items()},
        }


def _written(made: type, values: dict[str, Any]) -> dict[str, Any]:
    """What an object of a class writes when its attributes are these."""
    blank: Any = object.__new__(made)
    vars(blank).update(values)
    write: Callable[[], dict[str, Any]] = blank.to_json
    return write()


def _given(hint: Any) -> Any:  # noqa: ANN401 - any annotation
    """The type without none: an attribute that is none is not written at all."""
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    return Union[tuple(inner)] if typing.get_origin(hint) is Union else hint  # noqa: UP007 - made of parts


def dashboard_schema() -> Schema:
    """The schema of a dashboard."""
    maker = Maker()
    root = maker.of(dashboard.Dashboard)
    kinds = [_panel(maker, kind, module) for kind, module in PLUGINS.items()]
    definitions = maker.definitions
    # The lowest step has no value, and says so.
    definitions["dashboard.Threshold"]["properties"]["value"] = {"type": ["number", "null"]}
    definitions["dashboard.GridPos"]["properties"] |= {
        "x": {"type": "integer", "minimum": 0, "maximum": 23},
        "y": {"type": "integer", "minimum": 0},
        "w": {"type": "integer", "minimum": 1, "maximum": 24},
        "h": {"type": "integer", "minimum": 1},
    }
    definitions["dashboard.DataTransformerConfig"]["oneOf"] = [
        {"properties": {"id": {"const": name}, "options": options}}
        for name, options in TRANSFORMATIONS.items()
    ]
    definitions["dashboard.DynamicConfigValue"] = _dynamic(maker)
    definitions["dashboard.Panel"]["oneOf"] = kinds
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "$defs": definitions}


def _panel(maker: Maker, kind: str, module: str) -> Schema:
    models = importlib.import_module(f"grafana_foundation_sdk.models.{module}")
    # The SDK has no class for the fields of tables.
    custom = getattr(models, "FieldConfig", common.TableFieldOptions if kind == "table" else None)
    closed = {"properties": {"custom": maker.of(custom) if custom else False}}
    return {
        "properties": {
            "type": {"const": kind},
            "options": maker.of(models.Options),
            "fieldConfig": {"properties": {"defaults": closed}},
        }
    }


def _dynamic(maker: Maker) -> Schema:
    """What may be different about a series or a column."""
    allowed = {
        "unit": PLAIN[str],
        "decimals": PLAIN[int],
        "color": maker.of(dashboard.FieldColor),
        "links": {"type": "array", "items": DATA_LINK},
        "mappings": maker.of(_given(typing.get_type_hints(dashboard.FieldConfig)["mappings"])),
        "thresholds": maker.of(dashboard.ThresholdsConfig),
        "custom.width": PLAIN[int],
        "custom.cellOptions": maker.of(common.TableColorTextCellOptions),
        "custom.fillOpacity": PLAIN[int],
        "custom.lineStyle": maker.of(common.LineStyle),
    }
    return {
        "type": "object",
        "required": ["id", "value"],
        "additionalProperties": False,
        "properties": {"id": {"enum": list(allowed)}, "value": {}},
        "oneOf": [{"properties": {"id": {"const": name}, "value": value}} for name, value in allowed.items()],
    }
