"""The part of the console that keeps views: it opens saved ones, and saves the list on the screen."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.errors import SettingsError
from streamops.present.views import View, check_view_name, view_toml
from streamops.tui import goto, places
from streamops.tui.noticing_app import NoticingApp
from streamops.tui.screens.listing import Listing
from streamops.tui.source import TuiSettings


class ViewingApp(NoticingApp):
    """An app with saved views.

    Attributes:
        settings: What the console was started with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("w", "views", "views", show=False, id="views")]
    settings: TuiSettings

    def action_views(self) -> None:
        """Show all saved views."""
        self.go(places.Views())

    def action_headings(self) -> None:
        """Choose the column that the list is sorted by, and which are shown."""
        from streamops.tui.screens.headings import HeadingsScreen  # noqa: PLC0415 - the first screen needs none of it

        frame = self.frame
        if isinstance(frame, Listing) and not isinstance(frame, HeadingsScreen):
            self.push_screen(HeadingsScreen(frame))

    def show_view(self, name: str) -> None:
        """Open a saved view, or say why not; the list of them where no name is given."""
        if not name:
            self.action_views()
            return
        view = self.moment.views.get(name)
        if view is None:
            known = ", ".join(self.moment.views) or "none is saved; :save NAME saves this one"
            self.say(f"no view is named {name}; there are: {known}", warning=True)
            return
        match goto.parse_goal(view.place, self.moment.observation):
            case goto.Nowhere(reason):
                self.say(f"view {name}: {reason}", warning=True)
            case goto.Switch() | goto.ShowView() | goto.SaveView() | goto.Quit():
                self.say(f"view {name}: {view.place} is no place", warning=True)
            case place:
                self.go(place)
                self._arrange(name, view)

    def save_view(self, name: str) -> None:
        """Save the list on the screen as a view, in the configuration where that can be."""
        frame = self.frame
        place = goto.text_of(frame.place)
        if not isinstance(frame, Listing) or place is None:
            self.say("there is no list here that a view could show again", warning=True)
            return
        view = frame.as_view(place)
        try:
            check_view_name(name)
            table = view_toml(name, view)
        except SettingsError as error:
            self.say(f"{error.message}. {error.hint}", warning=True)
            return
        self.run_worker(self._save(name, view, table), exit_on_error=False)

    async def _save(self, name: str, view: View, table: str) -> None:
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

    def _arrange(self, name: str, view: View) -> None:
        frame = self.frame
        problem = frame.arrange_as(view) if isinstance(frame, Listing) else "there is no list at its place"
        if problem:
            self.say(f"view {name}: {problem}", warning=True)
