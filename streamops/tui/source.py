"""What the console is started with."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from streamops.model.acting import Limits
from streamops.resources.views import SavedView

if TYPE_CHECKING:  # The engine brings redis-py along, and the first screen is drawn before that.
    from streamops.operations.console import Console

    Source: TypeAlias = Console
    """Where observations and pages come from."""
else:
    Source = Any


class ContextInfo(Struct, frozen=True):
    """One named way to a server, as far as a screen shows it.

    Attributes:
        name: The context's name.
        environment: ``production`` unless stated.
        address: The address in words, without secrets.
        url: How ``--url`` reaches it, without secrets, where no context of that name is configured.
        read_only: Whether everything that changes anything is refused there.
        shows_plans: Whether plans may be made all the same, to be looked at.
    """

    name: str
    environment: str = "production"
    address: str = ""
    url: str = ""
    read_only: bool = False
    shows_plans: bool = False


class TuiSettings(Struct, frozen=True):
    """Everything the console is started with.

    Attributes:
        context: The context to begin with.
        contexts: All contexts there are, in the order to list them.
        open_source: Connects to a context by its name; raises ``StreamopsError``.
        every: Time between two polls; none for only on demand.
        theme: ``dark`` or ``light``.
        views: Saved views, by name.
        save_view: Adds a view to the configuration and says where; raises ``SettingsError``. None if there is none.
        keymap: Keys by the IDs of the bindings that they replace.
        guided: Whether the first minute is guided, as in the demo.
        mouse: Whether the mouse is used.
        colour: Whether colour is used.
        copy: Which way text is copied: ``auto``, ``osc52``, ``tool`` or ``file``.
    """

    context: ContextInfo
    contexts: tuple[ContextInfo, ...]
    open_source: Callable[[str], Awaitable[Source]]
    every: timedelta | None = timedelta(seconds=2)
    theme: str = "dark"
    views: Mapping[str, SavedView] = {}
    save_view: Callable[[str, SavedView], Awaitable[str]] | None = None
    keymap: Mapping[str, str] = {}
    guided: bool = False
    mouse: bool = True
    colour: bool = True
    copy: str = "auto"


if TYPE_CHECKING:  # Lists of what was done are looked at without the engine.
    from streamops.operations.operation import Prepared


class MakePlan(Struct, frozen=True):
    """A plan of an intent.

    Attributes:
        intent: What is to be done.
        limits: What the plan is held to.
        chosen: How many of the rows of a list it is about, in words: ``2 shown of 7``; empty if no list was chosen from.
    """

    intent: Struct
    limits: Limits = Limits()
    chosen: str = ""

    async def perform(self, source: Source) -> "Prepared[Any, Any]":
        """Read the evidence and make it."""
        return await source.prepare(self.intent, self.limits)


class PlanRest(Struct, frozen=True):
    """A plan of the rest of a job that was interrupted."""

    job: str

    async def perform(self, source: Source) -> "Prepared[Any, Any]":
        """Read the job and the evidence, and make it."""
        return await source.prepare_rest(self.job)


Planning: TypeAlias = MakePlan | PlanRest
