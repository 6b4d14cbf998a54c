"""The console: it owns the poller, and passes what is known down to the screen on top."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.filter import LineFilter
from textual.geometry import Size
from textual.worker import Worker, WorkerState

from streamops.errors import ExitCode, StreamopsError
from streamops.tui.arranging import Arrangements
from streamops.tui.asking import Follow
from streamops.tui.follower import Follower
from streamops.tui.guard import OnlyShown, WithoutColour
from streamops.tui.handing_app import HandingApp
from streamops.tui.live import Live
from streamops.tui.poller import Connected, Lost, Observed
from streamops.tui.providers import Actions, Places, Plans
from streamops.tui.reads import Fetch, fetch
from streamops.tui.source import TuiSettings
from streamops.tui.terminal import HUNG_UP, Stream, is_in_browser, require_terminal
from streamops.tui.theme import TERMINAL_NAME, next_theme, theme_name
from streamops.tui.widget_themes import themes

SMALLEST: Final = Size(80, 24)
WIDE: Final = 100
ROOMY: Final = 140


class StreamopsApp(HandingApp):
    """The console in a terminal.

    Args:
        settings: Where to connect, how often to poll, how to look.

    Attributes:
        error: Why it could not even begin.
        terminal: What it is drawn on, left when that goes away; none where it is no terminal of ours.
    """

    TITLE = "streamops"
    ALLOW_SELECT = False
    COMMANDS = {Arrangements, Actions, Plans, Places}  # noqa: RUF012 - Textual's own declaration, a ClassVar there
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as above
        (0, "-narrow"),
        (WIDE, "-wide"),
        (ROOMY, "-roomy"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit_at_root", "quit", show=False, id="quit"),
        Binding("r", "read_now", "read now", show=False, id="read_now"),
        Binding("p", "freeze", "freeze", show=False, id="freeze"),
        Binding("plus", "slower", "slower", show=False, id="slower"),
        Binding("minus", "faster", "faster", show=False, id="faster"),
    ]
    CSS = """
    Frame { layout: vertical; background: $background; }
    #banner { display: none; }
    #body { height: 1fr; layout: horizontal; }
    #pane { width: 34; }
    .-roomy #pane { width: 46; }
    SearchIcon { display: none; }
    Toast { padding: 0 1; width: auto; max-width: 76; }
    .-narrow #pane, .-narrow Divider { display: none; }
    GroupScreen.-narrow #body { layout: vertical; }
    GroupScreen.-narrow #pane { display: block; width: 1fr; height: 1fr; }
    GroupScreen.-narrow Divider { display: block; width: 1fr; height: 1; }
    """

    def __init__(self, settings: TuiSettings) -> None:
        super().__init__()
        self.settings = settings
        self.error: StreamopsError | None = None
        self.terminal: Stream | None = None
        self.live = Live(settings, self.post_message)
        self._polling: Worker[None] | None = None
        self._is_small = False
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
        self.begin_to_notice()

    def on_lost(self, message: Lost) -> None:
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

    # -- what screens ask for ------------------------------------------------------------------------

    def on_fetch(self, message: Fetch) -> None:
        """Read on demand, in the background."""
        # The function, not its coroutine: a screen that is left at once would leave one behind that nobody awaited.
        _: Worker[None] = message.asker.run_worker(
            partial(fetch, message, self.live.source), exit_on_error=False
        )

    def on_follow(self, message: Follow) -> None:
        """Follow a stream for as long as the asking screen lives."""
        source = self.live.source
        if source is not None:
            follower = Follower(source, message.stream, message.after, message.asker.post_message)
            _: Worker[None] = message.asker.run_worker(follower.run, exit_on_error=False)

    def switch_context(self, name: str) -> None:
        """Close this context's connections and connect to another's; everything shown goes."""
        context = self.live.find_context(name)
        if context is None:
            self.say(f"no context is named {name}", warning=True)
            return
        if self.running:
            self.say(f"{self.running[0].name} is under way here: wait for it, or stop it first", warning=True)
            return
        if self._polling is not None:
            self._polling.cancel()
        self.live.switch(context, self.moment.pace.chosen)
        self._start_polling()
        self.action_root()

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
            self.say("the colours are the terminal's own")
        self.theme = next_theme(self.theme)

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
