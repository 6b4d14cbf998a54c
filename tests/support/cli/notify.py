"""Notifications configured in a directory."""

from pathlib import Path

PLANTED = "T0pSecretPath"
"""A part of the webhook's address."""


def configure(directory: Path, *addresses: str, more: str = "") -> None:
    (directory / "urls").write_text("\n".join(["# who is told", *addresses]))
    (directory / "streamops.toml").write_text(f'[notify]\nurls_file = "urls"\n{more}')
