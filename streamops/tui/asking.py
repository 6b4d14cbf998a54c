"""What screens ask the app for."""

from textual.message import Message
from textual.widget import Widget

from streamops.model.entries import EntryId
from streamops.tui.routes import Route


class Go(Message):
    """Go to a place.

    Attributes:
        place: Where to.
    """

    def __init__(self, place: Route) -> None:
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


class Copy(Message):
    """Copy a text.

    Attributes:
        text: The text, as it is.
        what: What it is, in words that are safe to show.
    """

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class ShowInPager(Message):
    """Show a value in full, with the person's own pager.

    Attributes:
        value: The value.
        what: What it is, in words that are safe to show.
        raw: Whether the bytes go to the pager as they are.
    """

    def __init__(self, value: bytes, what: str, *, raw: bool = False) -> None:
        super().__init__()
        self.value = value
        self.what = what
        self.raw = raw


class Typed(Message):
    """Something was typed into a prompt to its end.

    Attributes:
        sign: The prompt's sign.
        text: What.
    """

    def __init__(self, sign: str, text: str) -> None:
        super().__init__()
        self.sign = sign
        self.text = text


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


class Remember(Message):
    """Remember a group for its charts, however many groups there are.

    Attributes:
        stream: Its stream.
        group: The group.
    """

    def __init__(self, stream: str, group: str) -> None:
        super().__init__()
        self.stream = stream
        self.group = group
