"""The part of the console that plays a recording: its keys, which mean nothing where there is none."""

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.widgets import Input

from streamops.tui.handing_app import HandingApp

if TYPE_CHECKING:  # Few play recordings.
    from streamops.tui.player import Played

MINUTE: Final = timedelta(minutes=1)
NOT_HERE: Final = "read-only: this is a recording, and nothing can be done to it"


class PlayingApp(HandingApp):
    """An app that may be shown a recording in place of a server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # It marks rows elsewhere; of a recording nothing can be marked to any end.
        Binding("space", "play", "pause, go on", show=False, priority=True, id="replay.pause"),
        Binding("left_square_bracket", "frames(-1)", "frame back", show=False, id="replay.back"),
        Binding("right_square_bracket", "frames(1)", "frame on", show=False, id="replay.on"),
        Binding("left_curly_bracket", "minutes(-1)", "minute back", show=False, id="replay.minute_back"),
        Binding("right_curly_bracket", "minutes(1)", "minute on", show=False, id="replay.minute_on"),
        Binding("less_than_sign", "slower", "play slower", show=False, id="replay.slower"),
        Binding("greater_than_sign", "faster", "play faster", show=False, id="replay.faster"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of a recording are keys where one is played, and where nobody types."""
        if action == "act" and self.live.player is not None:
            return True
        if action in ("play", "frames", "minutes"):
            return self.live.player is not None and not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def on_played(self, message: "Played") -> None:
        """Show the scene."""
        self.live.take_scene(message)
        self.pass_down()
        self.begin_to_notice()
        self.begin_to_notice()

    def action_act(self, key: str) -> None:
        """Open the form of what a key does to what the cursor is on; say why not, of a recording."""
        if self.live.player is None:
            super().action_act(key)
        else:
            self.say(NOT_HERE, warning=True)

    def action_play(self) -> None:
        """Stop, or go on."""
        self.live.freeze()

    def action_frames(self, frames: int) -> None:
        """Stop, and go to another frame."""
        if self.live.player is not None:
            self.live.player.step(frames)

    def action_minutes(self, minutes: int) -> None:
        """Go on or back by minutes."""
        if self.live.player is not None:
            self.live.player.jump(minutes * MINUTE)
