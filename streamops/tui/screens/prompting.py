"""A screen on which something can be typed: a filter, a place to go to, what to search for."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from streamops.present.text import safe
from streamops.tui import goto
from streamops.tui.asking import Go, GoTo, Typed
from streamops.tui.bars import Bar
from streamops.tui.moment import Moment
from streamops.tui.places import Place, Search
from streamops.tui.prompt import FILTER, GO_TO, SEARCH, Prompt, whole_line
from streamops.tui.theme import Ground


class Prompting(Screen[None]):
    """A place with a prompt in the place of its crumbs while something is typed.

    Args:
        place: Which place it is.
        moment: What is known now.
    """

    BLANK: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("colon", "go_to", "go to", show=False, id="go_to")]

    def __init__(self, place: Place, moment: Moment) -> None:
        super().__init__()
        self.place = place
        self.moment = moment
        self._crumbs = Bar(Ground.PAGE, id="crumbs")
        self._prompt: Prompt | None = None
        self._complaint = ""

    def show_bars(self) -> None:
        """Say again what the bars around the body say."""

    def stream_name(self) -> str | None:
        """The stream under the cursor, or the one the place is about; none where there is none."""
        return getattr(self.place, "stream", None)

    def prompted(self, text: str) -> None:
        """A filter was typed, or changed while it is typed."""

    def submitted(self) -> None:
        """A filter was typed to its end."""

    def complaint(self, sign: str, text: str) -> str:
        """What is wrong with what is being typed; empty where nothing is."""
        if sign != SEARCH or not text.strip():
            return ""
        from streamops.tui.finding import problem  # noqa: PLC0415 - only who searches pays for expressions

        return problem(text)

    # -- while something is typed ----------------------------------------------------------------------

    async def action_go_to(self) -> None:
        """Ask where to go."""
        moment = self.moment
        names = goto.completions(
            moment.observation, moment.views, [context.name for context in moment.contexts]
        )
        await self.open_prompt(Prompt(GO_TO, complete=whole_line(names), typed=moment.typed.get(GO_TO, ())))

    async def search(self) -> None:
        """Ask what to search the payloads of the stream under the cursor for."""
        await self.open_prompt(Prompt(SEARCH, typed=self.moment.typed.get(SEARCH, ())))

    async def open_prompt(self, prompt: Prompt) -> None:
        """Put a prompt in the place of the crumbs; it has the next key, however fast somebody types."""
        if self._prompt is not None:
            return
        self._prompt = prompt
        self._crumbs.display = False
        self.show_bars()
        await self.mount(prompt, after=self._crumbs)
        prompt.take_keys()

    def on_prompt_changed(self, message: Prompt.Changed) -> None:
        """Filter while typing."""
        message.stop()
        self._complaint = safe(self.complaint(message.sign, message.text))
        if message.sign == FILTER:
            self.prompted(message.text)
        self.show_bars()

    def on_prompt_entered(self, message: Prompt.Entered) -> None:
        """Take what was typed."""
        message.stop()
        self._complaint = safe(self.complaint(message.sign, message.text))
        if self._complaint:
            self.show_bars()
            return
        self._close_prompt(cancelled=False)
        if message.text.strip():
            self.post_message(Typed(message.sign, message.text.strip()))
        if message.sign == FILTER:
            self.prompted(message.text)
            self.submitted()
        elif message.text.strip():
            if message.sign == GO_TO:
                self.post_message(GoTo(message.text))
            else:
                self.entered(message.sign, message.text.strip())

    def entered(self, sign: str, text: str) -> None:
        """Something other than a filter or a place was typed to its end: what to search the stream for."""
        del sign
        if (stream := self.stream_name()) is not None:
            self.post_message(Go(Search(stream, text)))

    def _close_prompt(self, *, cancelled: bool) -> None:
        prompt, self._prompt = self._prompt, None
        self._complaint = ""
        if prompt is None:
            return
        if cancelled and prompt.sign == FILTER:
            self.prompted("")
        prompt.remove()
        self._crumbs.display = True
        self.focus_body()
        self.show_bars()

    def focus_body(self) -> None:
        """Give the keys to the body."""
        for widget in self.query("#main"):
            widget.focus()
