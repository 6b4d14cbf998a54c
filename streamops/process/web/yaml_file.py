"""YAML, read strictly; raises one error whatever is wrong with it."""

from typing import Any

import yaml


class NotYamlError(ValueError):
    """What was read is no YAML that can be used.

    Attributes:
        place: Where, in words that follow a file's name; empty where that is not known.
        reason: Why, in words that follow "not YAML".
    """

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"not YAML{reason}{place}")
        self.place = place
        self.reason = reason


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML forbids and PyYAML lets pass."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(
                problem="a key stands twice", problem_mark=node.start_mark
            )
        return super().construct_mapping(node, deep)


def load_yaml(content: bytes) -> Any:  # noqa: ANN401 - whatever it holds
    """What UTF-8 text holds.

    Raises:
        NotYamlError: It is no YAML, or says a key twice.
    """
    try:
        return yaml.load(content.decode("utf-8-sig"), _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise NotYamlError(f": {error.problem}", place) from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # Of a value that its tag does not fit, such as !!bool maybe, PyYAML says so in any of these.
        raise NotYamlError(" in UTF-8") from None
