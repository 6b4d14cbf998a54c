"""Documents as YAML, with the values that their JSON has."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import yaml

from streamops.model.json_text import encode

_UNFOLDED: Final = 1 << 30
_NUMERIC: Final = frozenset("0123456789+-.")


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # the one in C where it is built
    """Quotes text that some reader of YAML takes for a number, such as 1e3."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, '"' if text[:1] in _NUMERIC else None)


_Dumper.add_representer(str, _write_text)


def yaml_text(document: Mapping[str, Any]) -> str:
    r"""Write a document as YAML that is safe to print: only ASCII where a terminal would obey or hide something."""
    encoded = msgspec.json.encode(document)
    text: str = yaml.dump(
        msgspec.json.decode(encoded),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=encode(document) == encoded.decode(),
        width=_UNFOLDED,
    )
    return text
