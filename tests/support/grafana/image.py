"""The instructions of the image."""

from tests.support.grafana.stack import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def copied_sources() -> list[str]:
    """What is copied from the repository."""
    return [
        source
        for words in (rest.split() for rest in arguments("COPY") if not rest.startswith("--from="))
        for source in words[:-1]
    ]
