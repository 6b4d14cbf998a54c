"""Forgetting a pool of workers: what the server says about it, and the plan."""

from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan
from streamops.model.fields import Passing
from streamops.model.wording import counted, first_few, quoted
from streamops.operations.planning import planned
from streamops.operations.pools_rm.intent import RemovePoolIntent


class RemovePoolEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a pool.

    Attributes:
        told: The fields and values of its hash.
        keys: Its keys that there are.
        decisions: How many decisions about it are kept.
        alive: Its controller, supervisors and workers that live, in words.
        backup: The file that its records are written to; empty for none.
    """

    told: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    decisions: int
    alive: tuple[str, ...]
    backup: Passing[str]


UNIT: Final = ("key", "keys")


def plan_remove_pool(intent: RemovePoolIntent, evidence: RemovePoolEvidence) -> Plan:
    """Forget a pool.

    Raises:
        Forbidden: Something of it lives.
    """
    if evidence.alive:
        raise Forbidden(
            f"pool {intent.pool} is in use: {first_few(evidence.alive)}",
            "Nothing was done. End them first; one that was killed counts as alive until its heartbeat has run out.",
        )
    decisions = counted(evidence.decisions, "decision", "decisions")
    return planned(
        intent,
        len(evidence.keys),
        unit=UNIT,
        sample=evidence.keys,
        effects=[
            f"Deleted: {', '.join(map(quoted, evidence.keys))}; and the name in `streamops:pools`.",
            "Streams, groups and their pending entries stay as they are.",
            evidence.backup
            and f"The pool's settings and {decisions} are written to {evidence.backup} first.",
        ],
        loses=[
            f"The settings of pool {quoted(intent.pool)}, {decisions}, and what its controller learned.",
        ],
        warnings=[
            not evidence.backup and "No backup file is named: the records will be lost.",
        ],
    )
