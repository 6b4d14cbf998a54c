"""Manifests held against Kubernetes' own models, as lightkube has them."""

import importlib
import typing
from typing import Any, Final

import msgspec

MODELS: Final = {
    "ConfigMap": "core_v1",
    "Deployment": "apps_v1",
    "NetworkPolicy": "networking_v1",
    "Service": "core_v1",
}
"""Kinds of Kubernetes itself, and the module of lightkube's models that has them."""


def unknown_fields(value: object, kind: Any, where: str) -> list[str]:  # noqa: ANN401 - any type expression
    """Fields of a document that its model does not have; msgspec itself passes over them."""
    if isinstance(value, list):
        (item,) = typing.get_args(without_none(kind)) or (Any,)
        return [
            text
            for number, one in enumerate(value)
            for text in unknown_fields(one, item, f"{where}[{number}]")
        ]
    model = without_none(kind)
    if not isinstance(value, dict) or not (isinstance(model, type) and issubclass(model, msgspec.Struct)):
        return []
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(model)}
    found = [f"{where}.{key}" for key in value.keys() - fields.keys()]
    for key in value.keys() & fields.keys():
        found += unknown_fields(value[key], fields[key], f"{where}.{key}")
    return found


def without_none(kind: Any) -> Any:  # noqa: ANN401 - a type expression
    """What an optional type is where there is something."""
    others = [arg for arg in typing.get_args(kind) if arg is not type(None)]
    return others[0] if typing.get_origin(kind) is typing.Union and len(others) == 1 else kind


def model_of(kind: str) -> Any:  # noqa: ANN401 - a struct
    return getattr(importlib.import_module(f"lightkube.models.{MODELS[kind]}"), kind)


def check(manifest: dict[str, Any]) -> None:
    """``ValidationError`` or ``AssertionError`` where a manifest is not of its kind's model."""
    model = model_of(manifest["kind"])
    msgspec.convert(manifest, model)
    unknown = unknown_fields(manifest, model, manifest["kind"])
    assert not unknown, f"unknown fields: {unknown}"
