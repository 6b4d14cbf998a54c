"""What a health rule is: one row beside the function that finds something."""

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import NamedTuple

from msgspec import Struct

from streamops.model.observation import Finding, FindingCode

Find = Callable[..., Finding | None]


class RuleScope(Enum):
    """What a rule judges. The first three judge a group by its evidence, and say what of it."""

    WAITING = "what waits for a group"
    PENDING = "what is pending in a group"
    PAST = "whether a group's position moved back, it lost entries, or its stream was trimmed"
    STREAM = "a stream by itself: its state and its history"
    QUEUE = "a queue of delayed messages, and the server's clock"
    NODE = "a server process, and what a sentence about it begins with, if it is one of several"
    SERVER = "the server as a whole: streams that vanished together, and the server's clock"


class Need(StrEnum):
    """What must be known before a rule that finds nothing says that there is nothing; of some, the part of a ``ReadError``."""

    LAG = "how many entries wait"
    WAITING = "whether entries wait"
    AGE = "how long the first entry has waited"
    PAST = "what the last minutes were like"
    CONSUMERS = "consumers"
    PENDING = "pending entries"
    DELAYED = "delayed messages"
    MEMORY = "memory"


class Remedy(NamedTuple):
    """Something that mends a finding.

    Attributes:
        operation: The operation, as ``streamops`` calls it; empty for something that is done elsewhere.
        words: When it helps.
    """

    operation: str
    words: str


class Rule(Struct, frozen=True):
    """One health rule.

    Attributes:
        find: Finds it, given what is judged and the thresholds; has the name of the finding's code.
        alert: The alert in Prometheus that says the same; its runbook has the code as its heading.
        judged: What it judges.
        means: What the finding means.
        cause: How it comes about.
        look: What to look at, most likely first.
        fixes: What mends it.
        needs: What it cannot do without.
        explained_by: Rules whose finding makes this one needless, whatever its details.
    """

    find: Find
    alert: str
    judged: RuleScope
    means: str
    cause: str
    look: tuple[str, ...]
    fixes: tuple[Remedy, ...]
    needs: frozenset[Need] = frozenset()
    explained_by: tuple[Find, ...] = ()

    @property
    def code(self) -> FindingCode:
        """What it finds."""
        return code_of(self.find)


def code_of(find: Find) -> FindingCode:
    """The code of what a rule's function finds."""
    return FindingCode(find.__name__)
