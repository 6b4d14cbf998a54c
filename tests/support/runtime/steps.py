"""The steps of entries from state to state, as a worker takes them."""

from collections.abc import Callable

from streamops.runtime.entry import TRANSITIONS, Entry, EntryState

Step = tuple[EntryState, EntryState]


def watch_steps(note: Callable[[Entry, Step], object]) -> None:
    """Have every step of every entry of this process noted from now on."""

    def set_and_note(entry: Entry, name: str, value: object) -> None:
        if isinstance(value, EntryState):
            note(entry, (entry.state, value))
        object.__setattr__(entry, name, value)

    Entry.__setattr__ = set_and_note  # type: ignore[method-assign, assignment] # it takes any value


def unwatch_steps() -> None:
    """Have no steps noted any more."""
    del Entry.__setattr__


def is_drawn(step: Step) -> bool:
    """Whether ``EntryState`` draws a step."""
    former, state = step
    return state in TRANSITIONS.get(former, ())
