"""Names of keys: what a stream's name says about what it is for."""

from collections.abc import Mapping

from streamops.model.streams import StreamRole

DEAD_LETTER_SUFFIX = ":dlq"
RETRY_INFIX = ":retry:"


def stream_role(name: str, dead_letters: Mapping[str, str]) -> tuple[StreamRole, str | None]:
    """What a stream is for, and the stream it serves.

    A dead-letter queue is one that the configuration names, else any stream whose name ends in ``:dlq``;
    a retry stream is ``T:retry:GROUP``.
    """
    for source, queue in dead_letters.items():
        if queue == name:
            return StreamRole.DEAD_LETTERS, source
    if name.endswith(DEAD_LETTER_SUFFIX):
        return StreamRole.DEAD_LETTERS, _source(name.removesuffix(DEAD_LETTER_SUFFIX))
    tag, infix, group = name.rpartition(RETRY_INFIX)
    if infix and group and "{" in tag:
        return StreamRole.RETRY, _source(tag)
    return StreamRole.EVENTS, None


def _source(tag: str) -> str | None:
    """The stream behind a tag: braces around all of it were added for the slot's sake."""
    whole = tag.startswith("{") and tag.find("}") == len(tag) - 1
    return (tag[1:-1] if whole else tag) or None
