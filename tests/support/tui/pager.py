"""Pagers that do what a test wants."""

from pathlib import Path


def script(folder: Path, text: str) -> str:
    path = folder / "pager"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)
