"""Plans: what would be done and how dangerous it is, what the operator insists on, and what is answered."""

from enum import IntEnum

from msgspec import Struct

from streamops.model.acting.effects import Effect


class Impact(IntEnum):
    """How much a plan changes; its number is the ``tier`` of JSON and of audit records."""

    REVERSIBLE = 1
    """Loses nothing, and can be undone or set back: claim, remove a consumer, create a group, pause."""

    REDELIVERS = 2
    """Delivers again, or skips: replay, acknowledge, give back, rewind, safe trim."""

    DESTRUCTIVE = 3
    """Loses state for good: unsafe trim, delete, purge, destroy."""


class Plan(Struct, frozen=True, kw_only=True, rename={"impact": "tier", "recurring": "standing"}):
    """What would be done, told before it is done. Made by a pure planner from one reading of the server.

    Attributes:
        operation: The operation's name: ``claim``, ``groups.destroy``.
        target: What it acts on, in one text: ``orders/billing``, ``orders:dlq``.
        impact: How much it changes.
        count: Entries, groups or consumers that it would act on; zero is an empty selection.
        unit: What is counted, in the singular and the plural: ``("entry", "entries")``.
        sample: The first few of them, a line each.
        effects: What happens, a sentence each; effects on other groups too.
        loses: What is lost for good, in one sentence; empty where nothing is.
        undo: What ``undo`` does about it, in one sentence; empty where it has no exact inverse.
        opposite: The command line that sets it back where ``undo`` does not; empty where there is none.
        command: The equivalent command line.
        confirm: What has to be typed where the impact asks for a name: the target's own name.
        held_back_by: What keeps it from doing all that was asked (a safe trim); empty where nothing does.
        warnings: What the operator should think about first, a sentence each.
        facts: What those sentences say of groups and numbers, for programs.
        fingerprint: A digest of the evidence: two plans with the same one would do the same.
        recurring: Whether it goes on after what it counts, with whatever turns up, until it is stopped.
    """

    operation: str
    target: str
    impact: Impact
    count: int
    unit: tuple[str, str] = ("entry", "entries")
    sample: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    loses: str = ""
    undo: str = ""
    opposite: str = ""
    command: str = ""
    confirm: str = ""
    held_back_by: str = ""
    warnings: tuple[str, ...] = ()
    facts: tuple[Effect, ...] = ()
    fingerprint: str = ""
    recurring: bool = False

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be done, now or later."""
        return not (self.count or self.recurring)

    @property
    def reversible(self) -> bool:
        """Whether ``undo`` can take it back."""
        return bool(self.undo)

    @property
    def irreversible(self) -> bool:
        """Whether it delivers, skips or loses something, and nothing takes that back."""
        return self.impact is not Impact.REVERSIBLE and not self.undo


LARGEST_SELECTION = 1_000_000
"""More units than this are acted on only where ``--max`` says so."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the operator insists on besides the intent itself; the engine holds plan and apply to it.

    Attributes:
        expect: The plan must count exactly so many.
        max_count: The plan must not count more; none for the engine's own bound.
        reason: Why, for the audit log.
        unaudited: Go on where the audit log cannot be written (out of memory, no permission).
        rate: At most so many entries a second; none for as fast as it goes.
    """

    expect: int | None = None
    max_count: int | None = None
    reason: str = ""
    unaudited: bool = False
    rate: float | None = None

    @property
    def most(self) -> int:
        """How many units a plan may count."""
        return LARGEST_SELECTION if self.max_count is None else self.max_count


class Confirmation(Struct, frozen=True):
    """What the operator answered to a plan.

    Attributes:
        yes: Agreed: pressed Enter or Tab, or gave ``--yes``.
        typed: The text typed, or given as ``--confirm``: a count, ``yes``, or the target's name.
    """

    yes: bool = False
    typed: str = ""
