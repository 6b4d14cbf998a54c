"""Samples of a reading."""


def names(text: bytes) -> set[str]:
    return {line.split()[2] for line in text.decode().splitlines() if line.startswith("# TYPE")}
