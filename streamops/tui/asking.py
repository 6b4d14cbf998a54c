"""What screens ask the app for."""

from textual.message import Message
from textual.widget import Widget

from streamops.model.ids import EntryId
from streamops.tui.places import Place


class Go(Message):
    """Go to a place.

    Attributes:
        place: Where to.
    """

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class GoTo(Message):
    """Go to what a person typed.

    Attributes:
        text: What was typed after the colon.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Back(Message):
    """Go back to where one came from."""


class Say(Message):
    """Say something in passing.

    Attributes:
        text: What; made safe where it is said.
        warning: Whether it is a warning.
    """

    def __init__(self, text: str, *, warning: bool = False) -> None:
        super().__init__()
        self.text = text
        self.warning = warning


class SwitchContext(Message):
    """Leave this context for another.

    Attributes:
        name: The other context's name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Follow(Message):
    """Begin the live tail of a stream.

    Attributes:
        stream: The stream.
        after: The newest entry known; none for only what arrives from now on.
        asker: Who gets the entries.
    """

    def __init__(self, stream: str, after: EntryId | None, asker: Widget) -> None:
        super().__init__()
        self.stream = stream
        self.after = after
        self.asker = asker
