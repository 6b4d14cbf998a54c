"""The example configuration: complete, commented, and checked by the tests against the schema."""

from pathlib import Path


def read_example() -> str:
    """The example file's text: TOML that loads as it stands."""
    return Path(__file__).with_name("example.toml").read_text(encoding="utf-8")
