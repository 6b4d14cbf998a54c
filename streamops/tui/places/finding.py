"""A place that is a search in the payloads of one stream."""

from typing import Final

from msgspec import Struct

from streamops.monitor.search_words import split_words

WHERE: Final = "where "
"""What a text begins with that is an expression and not words."""


class Search(Struct, frozen=True):
    """What was found in the payloads of a stream, newest first.

    Attributes:
        stream: The stream.
        text: What is looked for: words, or ``where`` and an expression.
    """

    stream: str
    text: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream and the word ``search``."""
        return (self.stream, "search")

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        command = ("streams", "search", "--newest-first")
        if self.text.startswith(WHERE):
            return (*command, f"--where={self.text.removeprefix(WHERE).strip()}")
        wanted, unwanted = split_words(self.text)
        return (
            *command,
            *(f"--contains={word}" for word in wanted),
            *(f"--lacks={word}" for word in unwanted),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream,)
