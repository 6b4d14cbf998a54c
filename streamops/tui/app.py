"""The console: it owns the poller, and passes what is known down to the screen on top.

It also goes from place to place, opens forms and plans, and owns what is being done: screens call it for that.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from textual.actions import ActionParseResult
from textual.app import App, SuspendNotSupported
from textual.dom import DOMNode
from textual.events import Key, Resize
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from streamops.errors import ExitCode, SettingsError, StreamopsError
from streamops.model.entries import EntryId
from streamops.model.wording import first_few
from streamops.resources.text import safe, shorten
from streamops.resources.views import SavedView, check_view_name, view_toml
from streamops.tui import goto, routes
from streamops.tui.keys import WithKeys, first_key
from streamops.tui.lines.guide import Guide
from streamops.tui.palette import Actions, Arrangements, Places, Plans
from streamops.tui.polling.app_state import AppState, RunningOperation
from streamops.tui.polling.follower import Follower
from streamops.tui.polling.live import Live
from streamops.tui.polling.poller import Connected, Observed, PollFailed
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, queue_of, verb_of
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import ListScreen, list_of
from streamops.tui.source import Source, TuiSettings
from streamops.tui.terminal.output import (
    HUNG_UP,
    OnlyShown,
    TtyStream,
    WithoutColour,
    is_in_browser,
    require_terminal,
)
from streamops.tui.theme import TERMINAL_NAME, next_theme, theme_name, themes

if TYPE_CHECKING:  # Only who acts pays for the engine and for the screens of acting.
    from streamops.model.acting import Confirmation
    from streamops.operations.operation import Prepared
    from streamops.tui.acting.running import RunningOperations
    from streamops.tui.source import Planning

SMALLEST: Final = Size(80, 24)
WIDE: Final = 110
ROOMY: Final = 140
LONGEST_NOTICE: Final = 400
MOST_LOOKED_THROUGH: Final = 100
"""Streams that are asked for an entry of which the ID alone is known."""
DRAWN_WITHIN: Final = 0.05
"""Seconds from an observation to its first rows on the screen."""
FIRST_LEVEL: Final = (routes.OverviewRoute, routes.StreamsRoute, routes.AlertsRoute)
"""Places that are opened on top of the first screen."""
TWINS: Final[Mapping[type[Route], type[Route]]] = {
    routes.DeadLettersRoute: routes.JobsRoute,
    routes.JobsRoute: routes.DeadLettersRoute,
    routes.WorkersRoute: routes.PoolsRoute,
    routes.PoolsRoute: routes.WorkersRoute,
}
"""Places of one key: each opens in the place of the other."""


class StreamopsApp(WithKeys, App[int]):
    """The console in a terminal.

    Args:
        settings: Where to connect, how often to poll, how to look.

    Attributes:
        error: Why it could not even begin.
        terminal: What it is drawn on, left when that goes away; None if it is no terminal of ours.
    """

    TITLE = "streamops"
    ALLOW_SELECT = False
    COMMANDS = {Arrangements, Actions, Plans, Places}  # noqa: RUF012 - Textual's own declaration, a ClassVar there
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as above
        (0, "-narrow"),
        (WIDE, "-wide"),
        (ROOMY, "-roomy"),
    ]
    CSS = """
    Frame { layout: vertical; background: $background; }
    #banner, #guide { display: none; }
    #body { height: 1fr; layout: horizontal; }
    #pane { width: 34; }
    .-roomy #pane { width: 46; }
    SearchIcon { display: none; }
    ToastRack { margin-bottom: 2; }
    Toast { padding: 0 1; width: auto; max-width: 76; }
    .-narrow #pane, .-narrow Divider { display: none; }
    .-wide-pane.-wide #pane, .-wide-pane.-roomy #pane { width: 40%; max-width: 64; }
    .-wide-pane.-narrow #body { layout: vertical; }
    .-wide-pane.-narrow #pane { display: block; width: 1fr; height: 1fr; }
    .-wide-pane.-narrow Divider { display: block; width: 1fr; height: 1; }
    .-below #body { layout: vertical; }
    .-below #pane { display: block; width: 1fr; height: 1fr; }
    .-below Divider { display: block; width: 1fr; height: 1; }
    """

    def __init__(self, settings: TuiSettings) -> None:
        super().__init__()
        self.settings = settings
        self.error: StreamopsError | None = None
        self.terminal: TtyStream | None = None
        self.live = Live(settings, self.post_message)
        self.guide = Guide() if settings.guided else None
        self._polling: Worker[None] | None = None
        self._doing: RunningOperations | None = None
        self._leaving = self._paging = False
        self._is_small = False
        self._unanswered = ""
        self.no_color = self.no_color or not settings.colour
        self.set_keymap(dict(settings.keymap))
        self._line_filters: tuple[LineFilter, ...] = (
            OnlyShown(),
            *((WithoutColour(),) if self.no_color else ()),
        )
        # Numbers that glide cannot be read, and over SSH every frame of a glide is traffic.
        self.animation_level = "none"
        for theme in themes():
            self.register_theme(theme)
        self.theme = theme_name(settings.theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every line passes on its way out; replaces Textual's own filters."""
        return self._line_filters

    def fit_colours(self) -> None:
        """Draw in no more colours than the terminal has."""
        self.theme = theme_name(self.settings.theme, self.console.color_system)

    def on_mount(self) -> None:
        """Begin to poll, and to tick."""
        self._start_polling()
        self.set_interval(1.0, self._tick)

    # -- what the poller says ------------------------------------------------------------------------

    def on_connected(self, message: Connected) -> None:
        """Pages can be read from now on."""
        self.live.take_connection(message)

    def on_observed(self, message: Observed) -> None:
        """Show the observation."""
        self.live.take_observation(message)
        self.pass_down()
        self.start_history()

    def on_poll_failed(self, message: PollFailed) -> None:
        """Say so over the data there is; leave where there never was a connection at all."""
        self.error = self.live.take_loss(message)
        if self.error is not None:
            self.exit(return_code=int(self.error.exit_code))
        else:
            self.pass_down()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Turn a failure nobody foresaw into a banner."""
        if event.state is WorkerState.ERROR and event.worker is self._polling:
            self.live.break_off(event.worker.error)
            self.pass_down()

    def on_resize(self, event: Resize) -> None:
        """Say that a terminal is small, once; what there is room for is drawn all the same."""
        size = event.size
        small = size.width < SMALLEST.width or size.height < SMALLEST.height
        if small and not self._is_small:
            self.say(
                f"{size.width}x{size.height}: less than {SMALLEST.width}x{SMALLEST.height} cuts rows and words",
                warning=True,
            )
        self._is_small = small

    def on_app_blur(self) -> None:
        """Poll less while nobody looks."""
        self.live.focus(focused=False)
        self.pass_down()

    def on_app_focus(self) -> None:
        """Poll as chosen again."""
        self.live.focus(focused=True)
        self.pass_down()

    def on_key(self, event: Key) -> None:
        """Give a prompt what was typed before it had the keys.

        Keys are handed to a widget as they come, and obeyed one by one: what comes in one piece, over a slow line or from
        a script, has all gone to the list by the time its first key opens the prompt.
        """
        focused = self.focused
        if isinstance(focused, Input) and event.is_printable and event.character is not None:
            event.prevent_default()
            focused.insert_text_at_cursor(event.character)
        else:
            # Which keys do something is asked of more than a hundred bindings: only a key that did nothing is worth that.
            self._unanswered = event.key
            self.call_next(self._explain_unanswered)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Perform an action, as Textual does; a key that did something needs no explanation."""
        done = await super().run_action(action, default_namespace, namespaces)
        if done:
            self._unanswered = ""
        return done

    def _explain_unanswered(self) -> None:
        if (key := self._unanswered) and isinstance(self.screen, Frame):
            self.screen.explain_key(key)

    def follow(self, screen: Frame, stream: str, after: EntryId | None) -> None:
        """Follow a stream for as long as a screen lives, which gets ``Tailed`` and ``TailLost``.

        Args:
            screen: The screen.
            stream: The stream.
            after: The newest entry known; none for only what arrives from now on.
        """
        if (source := self.live.source) is not None:
            follower = Follower(source, stream, after, screen.post_message)
            _: Worker[None] = screen.run_worker(follower.run, exit_on_error=False)

    def back(self) -> None:
        """Leave the place on top."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
            self.pass_down()

    def go_to(self, text: str) -> None:
        """Go to what was typed, or say why not."""
        match goto.parse_goal(text, self.app_state.observation, self.frame.stream_name()):
            case goto.FindEntry(entry_id, streams):
                self.find_entry(entry_id, streams)
            case goto.Switch(context):
                self.switch_context(context)
            case goto.ShowView(name):
                self.show_view(name)
            case goto.SaveView(name):
                self.save_view(name)
            case goto.Quit():
                self._quit()
            case goto.Nowhere(reason):
                self.say(reason, warning=True)
            case place:
                self.go(place)

    def find_entry(self, entry_id: EntryId, streams: Sequence[str]) -> None:
        """Go to an entry in the first of some streams that has it, or say that none has."""
        looked = streams[:MOST_LOOKED_THROUGH]

        async def read(source: Source) -> str | None:
            for stream in looked:
                if await source.read_entry(stream, entry_id) is not None:
                    return stream
            return None

        def take(stream: str | None) -> None:
            if stream is not None:
                self.go(routes.EntryRoute(stream, entry_id))
            else:
                self.say(f"{entry_id} is in none of the {len(looked)} streams searched: {first_few(looked)}")

        self.frame.fetch(read, take, lambda error: self.say(error.message, warning=True))

    def note_typed(self, sign: str, text: str) -> None:
        """Note what was typed into a prompt, so that it can be had again."""
        self.live.remember(sign, text)
        self.pass_down()

    def show_in_pager(self, value: bytes, what: str, *, raw: bool = False) -> None:
        """Show a value in full with the person's own pager; the console is back when that is left.

        Args:
            value: The value.
            what: What it is, in words that are safe to show.
            raw: Whether the bytes go to the pager as they are.
        """
        if not self._paging:
            self.run_worker(self._page_and_say(value, what, raw=raw), exit_on_error=False)

    def apply(self, prepared: "Prepared[Any, Any]", confirmation: "Confirmation") -> RunningOperation | None:
        """Do what a plan says, in a task of its own; none, and the reason is said, if that cannot be."""
        from streamops.tui.acting.running import RunningOperations  # noqa: PLC0415 - as above

        source = self.live.source
        if source is None or self._leaving or self.app_state.mismatch is not None:
            self.say(self.why_no_plan(), warning=True)
            return None
        self._doing = self._doing or RunningOperations(self._take_all_running)
        deed = self._doing.begin(prepared)
        self.run_worker(self._doing.carry_out(deed.number, confirmation, source), exit_on_error=False)
        return deed

    def why_no_plan(self) -> str:
        """Why nothing can be planned or done now."""
        if self.app_state.read_only:
            return "read-only: nothing is changed here"
        if self._leaving:
            return "leaving: nothing was done"
        if self.app_state.mismatch is not None:
            return "server restarted or replaced: nothing was done; ^y accepts it, then make a new plan"
        return "not connected: nothing was done"

    def stop_operation(self, number: int) -> None:
        """Stop what is under way, after its batch."""
        if self._doing is not None:
            self._doing.stop(number)

    def undo(self, audit_id: str) -> None:
        """Plan to take an action back."""
        from streamops.tui.acting.offers import UNDO, undoing  # noqa: PLC0415 - as above
        from streamops.tui.source import MakePlan  # noqa: PLC0415 - as above

        if self.app_state.read_only:
            self.say("read-only: nothing is changed here", warning=True)
        elif (intent := undoing(audit_id)) is None:
            self.say(f"this version cannot {UNDO}", warning=True)
        else:
            self.open_plan(UNDO, MakePlan(intent))

    def leave_plan(self) -> None:
        """Close the plan and the form it came from."""
        from streamops.tui.screens.frame import ActingFrame  # noqa: PLC0415 - as above

        while isinstance(self.screen, ActingFrame):
            self.pop_screen()
        self.pass_down()

    # -- places --------------------------------------------------------------------------------------

    @property
    def app_state(self) -> AppState:
        """What is known now."""
        return self.live.app_state

    @property
    def frame(self) -> Frame:
        """The topmost place; palettes may lie above it."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Frame))

    def get_default_screen(self) -> Screen[None]:
        """The root of the stack."""
        return self._screen_of(routes.StatusRoute())

    def _screen_of(self, place: Route) -> Frame:
        """A new screen of a place, imported when it is first opened."""
        if place.resource:
            module, name = place.resource.split(":")
            resource = getattr(import_module(f"streamops.resources.{module}"), name)
            return list_of(resource, place.leads)(place, self.app_state)
        module, name = place.screen.split(":")
        screen: Frame = getattr(import_module(f"streamops.tui.screens.{module}"), name)(place, self.app_state)
        return screen

    def go(self, place: Route) -> None:
        """Open a place on top; the root is gone back to; a job of this console is shown as the plan that it carries out."""
        if isinstance(place, routes.JobRoute) and (deed := self.running_of(place.id)) is not None:
            self.open_plan(deed.plan.operation, None, deed)
        elif isinstance(place, routes.StatusRoute):
            self.action_root()
        elif place != self.frame.place:
            # Answers to keys of the screen below would cover the new one.
            self.clear_notifications()
            self.push_screen(self._screen_of(place))

    def go_to_crumb(self, depth: int) -> None:
        """Go back to a crumb of the place on top; open it where the way here did not lead over it.

        Args:
            depth: How many crumbs it has; 0 for the context's, which is the first screen.
        """
        crumbs = self.frame.place.breadcrumbs[:depth]
        if not crumbs:
            self.action_root()
        elif any(isinstance(one, Frame) and one.place.breadcrumbs == crumbs for one in self.screen_stack):
            while self.frame.place.breadcrumbs != crumbs:
                self.pop_screen()
            self.pass_down()
        else:
            self.go_to(" ".join(crumbs))

    def _open_sibling(self, place: Route) -> None:
        """Open one of the two places of one key, in the place of the other where that is on top."""
        from streamops.tui.screens.frame import ActingFrame  # noqa: PLC0415 - as above

        frame = self.frame
        is_other = type(frame.place) is TWINS.get(type(place))
        if is_other and not isinstance(frame, ActingFrame):
            self.pop_screen()
        self.go(place)

    def say(self, text: str, *, warning: bool = False) -> None:
        """Say something in passing, literally."""
        self.notify(
            shorten(safe(text), LONGEST_NOTICE),
            severity="warning" if warning else "information",
            timeout=4,
            markup=False,
        )

    def pass_down(self) -> None:
        """Show the moment."""
        # A message may still come when the screens are gone.
        if self.screen_stack:
            self.frame.show(self.app_state)

    def switch_context(self, name: str) -> None:
        """Close this context's connections and connect to another's; everything shown goes."""
        context = self.live.find_context(name)
        if context is None:
            self.say(f"no context is named {name}", warning=True)
            return
        if self.running:
            self.say(f"{self.running[0].name} is running here: wait for it, or stop it first", warning=True)
            return
        if self._polling is not None:
            self._polling.cancel()
        self.live.switch(context, self.app_state.pace.chosen)
        self._start_polling()
        self.action_root()

    def show_view(self, name: str) -> None:
        """Open a saved view, or say why not; the list of them where no name is given."""
        if not name:
            self.go(routes.ViewsRoute())
            return
        view = self.app_state.views.get(name)
        if view is None:
            known = ", ".join(self.app_state.views) or "no views are saved; :save NAME saves this list"
            self.say(f"no view is named {name}; there are: {known}", warning=True)
            return
        match goto.parse_goal(view.place, self.app_state.observation):
            case goto.Nowhere(reason):
                self.say(f"view {name}: {reason}", warning=True)
            case goto.FindEntry() | goto.Switch() | goto.ShowView() | goto.SaveView() | goto.Quit():
                self.say(f"view {name}: {view.place} is not a screen", warning=True)
            case place:
                self.go(place)
                self._arrange(name, view)

    def save_view(self, name: str) -> None:
        """Save the list on the screen as a view, in the configuration where that can be."""
        frame = self.frame
        place = goto.text_of(frame.place)
        if not isinstance(frame, ListScreen) or place is None:
            self.say("only a list can be saved as a view", warning=True)
            return
        view = frame.as_view(place)
        try:
            check_view_name(name)
            table = view_toml(name, view)
        except SettingsError as error:
            self.say(f"{error.message}. {error.hint}", warning=True)
            return
        self.run_worker(self._save(name, view, table), exit_on_error=False)

    async def _save(self, name: str, view: SavedView, table: str) -> None:
        reason = "there is no configuration file to save it in"
        if self.settings.save_view is not None:
            try:
                where = await self.settings.save_view(name, view)
            except SettingsError as error:
                reason = error.message
            else:
                self.live.add_view(name, view)
                self.pass_down()
                self.say(f"saved in {where}; :view {name} opens it")
                return
        self.say(
            f"{reason}. The table goes to the clipboard, to be pasted into a configuration file.",
            warning=True,
        )
        self.copy(table, "the view's table")

    def _arrange(self, name: str, view: SavedView) -> None:
        frame = self.frame
        problem = frame.arrange_as(view) if isinstance(frame, ListScreen) else "its screen is not a list"
        if problem:
            self.say(f"view {name}: {problem}", warning=True)

    def copy(self, text: str, what: str) -> None:
        """Copy a text, and say which way it went. Nobody waits for a tool.

        Args:
            text: The text, as it is.
            what: What it is, in words.
        """
        self.run_worker(self._copy_and_say(text, what), exit_on_error=False)

    async def _copy_and_say(self, text: str, what: str) -> None:
        from streamops.tui.terminal.clipboard import Clipboard  # noqa: PLC0415 - the first screen needs none of it

        clipboard = Clipboard(
            self.settings.copy, os.environ, self.copy_to_clipboard, in_browser=is_in_browser(os.environ)
        )
        try:
            way = await clipboard.copy(text)
        except StreamopsError as error:
            self.say(f"{what}: {error.message}", warning=True)
        else:
            self.say(f"{way}: {what}")

    async def _page_and_say(self, value: bytes, what: str, *, raw: bool) -> None:
        from streamops.tui.terminal.pager import page  # noqa: PLC0415 - few page

        self._paging = True
        try:
            # Polls and jobs go on meanwhile, and nothing of it is drawn over the pager.
            with self.batch_update(), self.suspend(), _deaf_to_ctrl_c():
                await asyncio.to_thread(page, value, os.environ, raw=raw)
        except SuspendNotSupported:
            self.say(f"{what}: a browser has no pager; copy it instead", warning=True)
        except StreamopsError as error:
            self.say(f"{error.message}. {error.hint}", warning=True)
        finally:
            self._paging = False

    # -- forms and plans -----------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A capital is a key only if it means something, and plans may be made."""
        if action == "act":
            return self.app_state.may_plan and verb_of(str(parameters[0]), self.frame.selection()) is not None
        if action == "accept_server":
            return self.app_state.mismatch is not None
        if action == "skip_guide":
            return self.guide is not None
        return super().check_action(action, parameters)

    def open_form(self, operation: str, selection: Selection | None, *, edits: bool = False) -> None:
        """Open the form of an operation, filled in from what the cursor is on.

        Args:
            operation: Its name.
            selection: What the cursor is on.
            edits: Ask for the fields of the letters too.
        """
        from streamops.tui.acting.offers import backup_for, operation_named  # noqa: PLC0415 - as above
        from streamops.tui.screens.form import FormScreen  # noqa: PLC0415 - as above

        if (found := operation_named(operation)) is None:
            self.say(f"this version cannot {operation}", warning=True)
            return
        if edits and selection is not None:
            from streamops.tui.screens.edit_form import EditFormScreen  # noqa: PLC0415 - as above

            self.push_screen(EditFormScreen(self.frame.place, self.app_state, found, selection))
            return
        self.push_screen(
            FormScreen(
                self.frame.place,
                self.app_state,
                found,
                selection,
                backup_for(operation, found.intent, selection),
            )
        )

    def open_plan(
        self, title: str, planning: "Planning | None", deed: RunningOperation | None = None
    ) -> None:
        """Open a plan, to be made or under way."""
        from streamops.tui.screens.plan import PlanScreen  # noqa: PLC0415 - as above

        self.push_screen(PlanScreen(self.frame.place, self.app_state, title, planning, deed))

    # -- what is being done --------------------------------------------------------------------------

    @property
    def running(self) -> tuple[RunningOperation, ...]:
        """What is under way."""
        return tuple(deed for deed in self.app_state.deeds if deed.running)

    def running_of(self, job: str) -> RunningOperation | None:
        """What this console is doing under a job's ID; None if that is somebody else's, or over."""
        return next((deed for deed in self.running if deed.job == job), None)

    def stop_before_leaving(self) -> bool:
        """Stop what is under way before the console is left; say whether that has to be waited for.

        Whoever asks a second time does not wait.
        """
        if not self.running or self._leaving or self._doing is None:
            return False
        self._leaving = True
        self._doing.stop_all()
        self.say(
            f"stopping {safe(self.running[0].name)} after its batch; once more quits at once", warning=True
        )
        return True

    def _take_all_running(self, deeds: tuple[RunningOperation, ...]) -> None:
        before = {deed.number for deed in self.running}
        self.live.take_all_running(deeds)
        ended = [deed for deed in deeds if deed.number in before and not deed.running]
        self.pass_down()
        if ended:
            self._after(ended)

    def _after(self, ended: list[RunningOperation]) -> None:
        """Look again at what was changed, and tell those who look elsewhere."""
        self.live.poller.poll_now()
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                self.call_later(partial(screen.acted))
        for deed in ended:
            if self._leaving and not self.running:
                self.exit(0)
            elif not self.frame.tells(deed):
                self.say(_ending(deed), warning=deed.error is not None)

    # -- keys ----------------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """Quit."""
        self._quit()

    def action_quit_at_root(self) -> None:
        """Quit from the first screen only: elsewhere ``q`` is too near to other keys."""
        if len(self.screen_stack) == 1:
            self._quit()
        else:
            self.say("q quits on the first screen; Esc goes back, Ctrl-Q quits")

    def action_read_now(self) -> None:
        """Poll now, and read again what the screen read for itself."""
        if self._polling is not None and self._polling.is_finished:
            self._start_polling()
        self.live.poller.poll_now()
        self.frame.reread()

    def action_freeze(self) -> None:
        """Keep the screen as it is, or go on with what is newest."""
        self.live.freeze()
        self.pass_down()

    def action_slower(self) -> None:
        """Poll less often."""
        self.live.slow_down()
        self.pass_down()

    def action_faster(self) -> None:
        """Poll more often."""
        self.live.speed_up()
        self.pass_down()

    def action_toggle_theme(self) -> None:
        """The next theme."""
        if self.theme == TERMINAL_NAME:
            self.say("the colours are those of the terminal")
        self.theme = next_theme(self.theme)

    def action_go(self, name: str, other: str = "") -> None:
        """Go to a place by its name; from there to the other of its key."""
        place: Route = getattr(routes, f"{name}Route")()
        if other and place == self.frame.place:
            place = getattr(routes, f"{other}Route")()
        if isinstance(place, FIRST_LEVEL):
            self.action_root()
        self._open_sibling(place)

    def action_root(self) -> None:
        """Go back to the first screen."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.pass_down()

    def why_not(self, action: str) -> str:
        """Why an action has nothing to act on here; empty if it has."""
        frame = self.frame
        stream, selection = frame.stream_name(), frame.selection()
        match action:
            case "trace" if frame.entry_at() is None:
                return "there is no entry under the cursor to trace"
            case "tail" | "search" | "letters_of" if stream is None:
                doing = {"tail": "tail", "search": "search"}.get(action, "show the dead letters of")
                return f"there is no stream under the cursor to {doing}"
            case "letters_of" if queue_of(self.app_state.observed, stream or "") is None:
                return f"no dead-letter queue of {stream} is known"
            case "charts" if isinstance(frame.place, routes.ChartsRoute):
                return "these are the charts"
            case "charts" if selection is None or selection.group is None:
                return "charts need a group: put the cursor on one"
            case "copy_id" if frame.copyable() is None:
                return "nothing to copy under the cursor"
            case "undo":
                return frame.why_no_undo()
        return ""

    def why_no_undo(self) -> str:
        """Why what this console did last cannot be undone; empty if it can."""
        done = [deed for deed in self.app_state.deeds if not deed.running]
        if done and done[-1].undo_id is not None:
            return ""
        why = f"{done[-1].name} cannot be undone" if done else "this console has changed nothing yet"
        keys = [first_key(name, self.app_state.keymap) for name in ("undo", "audit")]
        return f"undo: {why}; {keys[0]} in the audit log ({keys[1]}) undoes the action under the cursor"

    def can(self, action: str) -> bool:
        """Whether an action has something to act on; says why not."""
        reason = self.why_not(action)
        if reason:
            self.clear_notifications()
            self.say(reason)
        return not reason

    def action_tail(self) -> None:
        """Tail the stream under the cursor; on a tail, follow again."""
        if not self.frame.follow() and self.can("tail"):
            self.go(routes.EntriesRoute(self.frame.stream_name() or ""))

    def action_trace(self) -> None:
        """Tell what became of the entry under the cursor."""
        if self.can("trace") and (entry := self.frame.entry_at()) is not None:
            self.go(routes.TraceRoute(*entry))

    def action_undo(self) -> None:
        """Plan to undo what this console did last."""
        if self.can("undo"):
            done = [deed for deed in self.app_state.deeds if not deed.running]
            self.undo(done[-1].undo_id or "")

    def action_accept_server(self) -> None:
        """Take the server that answers for the one that is meant, and unlock writes."""
        self.live.accept_server()
        self.pass_down()
        self.say("writes are unlocked: this server is accepted")

    async def action_search(self) -> None:
        """Search the payloads of the stream under the cursor."""
        if self.can("search"):
            await self.frame.search()

    def action_help(self) -> None:
        """Show the keys that work here; again: explain the row under the cursor."""
        from streamops.tui.screens.help import HelpScreen  # noqa: PLC0415 - the first screen needs none of it

        if isinstance(self.frame, HelpScreen):
            self.frame.turn()
        else:
            self.push_screen(HelpScreen(self.frame))

    def action_copy_id(self) -> None:
        """Copy the ID or name under the cursor."""
        if self.can("copy_id") and (text := self.frame.copyable()) is not None:
            self.copy(text, text)

    def action_copy_command(self) -> None:
        """Copy the command that prints what the screen shows."""
        command = self.frame.command_text()
        self.copy(command, command)

    def action_skip_guide(self) -> None:
        """End the guided minute."""
        if self.guide is not None:
            self.guide.skip()
            self.pass_down()

    def action_charts(self) -> None:
        """Show the charts of the group under the cursor."""
        if self.can("charts") and (selection := self.frame.selection()) is not None:
            self.go(routes.ChartsRoute(selection.stream, selection.group or ""))

    def action_headings(self) -> None:
        """Choose the column that the list is sorted by, and which are shown."""
        from streamops.tui.screens.column_picker import ColumnPickerScreen  # noqa: PLC0415 - the first screen needs none of it

        frame = self.frame
        if isinstance(frame, ListScreen) and not isinstance(frame, ColumnPickerScreen):
            self.push_screen(ColumnPickerScreen(frame))

    def action_act(self, key: str) -> None:
        """Open the form of what a key does to what the cursor is on."""
        selection = self.frame.selection()
        verb = verb_of(key, selection)
        if verb is not None:
            self.open_form(verb.operation, selection, edits=verb.edits)

    def action_letters_of(self) -> None:
        """Show the dead letters of the stream under the cursor."""
        stream = self.frame.stream_name() or ""
        if self.can("letters_of") and (queue := queue_of(self.app_state.observed, stream)) is not None:
            self.go(routes.DeadLetterEntriesRoute(queue))

    # -- inside --------------------------------------------------------------------------------------

    def _start_polling(self) -> None:
        self._polling = self.run_worker(self.live.poller.run(), exit_on_error=False)

    def _quit(self) -> None:
        if not self.stop_before_leaving():
            self.exit(0)

    def _tick(self) -> None:
        if self.terminal is not None and not self.terminal.isatty():
            # Without a session of its own nobody is sent a signal, and would go on polling for good.
            self.exit(return_code=HUNG_UP)
        if self.screen_stack:
            self.frame.tick()

    def start_history(self) -> None:
        """Begin to remember, once the first rows are on the screen; after that it costs nothing to ask."""
        is_seen = self.app_state.observation is not None and self.frame.is_composed
        if self.app_state.past is None and is_seen:
            # Not after a refresh of the screen: another one may lie above it by then, and it would never come.
            self.set_timer(DRAWN_WITHIN, self._start_history)

    def _start_history(self) -> None:
        if self.live.start_history():
            self.pass_down()


def run(settings: TuiSettings) -> int:
    """Run the console until the person leaves; return the exit code.

    Raises:
        SettingsError: There is no terminal to draw on.
        StreamopsError: The first connection failed.
    """
    if not is_in_browser(os.environ):
        require_terminal(sys.stdin, sys.stdout, os.environ)
    app = StreamopsApp(settings)
    app.fit_colours()
    app.terminal = None if is_in_browser(os.environ) else sys.stdin
    app.run(mouse=settings.mouse)
    if app.error is not None:
        raise app.error
    return app.return_code or int(ExitCode.DONE)


def _ending(deed: RunningOperation) -> str:
    if deed.error is not None:
        return f"{deed.name}: {deed.error.message}"
    applied = 0 if deed.outcome is None else deed.outcome.applied
    return f"{deed.name}: {applied:,} done; @ shows more"


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Leave Ctrl-C to the pager: the terminal tells everybody who is on it."""
    # Not ignored, which the pager would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
