"""Regular expressions for names, which strangers choose: none of them takes longer than in proportion to its text.

The language is RE2's, as in Prometheus's own settings: Python's, without references back and without looking around.
"""

from typing import Protocol


class NamePattern(Protocol):
    """A regular expression."""

    def fullmatch(self, text: str) -> object:
        """Something where it matches the whole text; none where it does not."""


def name_pattern(text: str) -> NamePattern:
    """The regular expression of a text.

    Raises:
        ValueError: It is none; why, in words.
    """
    import re2  # noqa: PLC0415 - few ask for patterns, and it takes its time and memory

    options = re2.Options()
    # Else it writes to standard error too.
    options.log_errors = False
    problem = ""
    try:
        pattern: NamePattern = re2.compile(text, options)
    except re2.error as error:
        problem = error.args[0].decode()
    except UnicodeEncodeError:
        problem = "it is not UTF-8"
    else:
        return pattern
    raise ValueError(problem)
