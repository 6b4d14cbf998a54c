"""The lines of the log of ``webhooks serve`` that say what became of a message: their events and fields."""

from base64 import b64decode
from datetime import datetime
from typing import Final

from msgspec import Struct

ACCEPTED: Final = "message accepted"
CANCELLED: Final = "message cancelled"
REFUSED: Final = "request refused"
CALLED: Final = "message called"


class RequestLine(Struct, frozen=True, kw_only=True):
    """A line, as far as it says whether a message is still to be called, and what it was.

    Attributes:
        event: What happened.
        timestamp: When, by the clock of `webhooks serve`.
        topic: The topic.
        id: The message's ID.
        context: The context whose Redis has it; empty for one without a name.
        stream: The topic's stream.
        group: Its consumer group.
        due_at: When it is due; none for at once.
        content_type: The type of its body.
        body: Its body, if that is text and is logged.
        body_base64: The same of a body that is no text.
        body_truncated: Whether the body is cut off.
        body_redacted: Whether a secret was taken out of it.
        outcome: How a call ended.
        given_up: Whether no further call follows it.
    """

    event: str = ""
    timestamp: datetime | None = None
    topic: str = ""
    id: str = ""
    context: str = ""
    stream: str = ""
    group: str = ""
    due_at: datetime | None = None
    content_type: str = ""
    body: str | None = None
    body_base64: str | None = None
    body_truncated: bool = False
    body_redacted: bool = False
    outcome: str = ""
    given_up: bool = False

    @property
    def content(self) -> bytes | None:
        """The whole body; none if the line does not have it."""
        if self.body_truncated or self.body_redacted:
            return None
        if self.body is not None:
            return self.body.encode()
        return None if self.body_base64 is None else b64decode(self.body_base64)

    @property
    def delivered(self) -> bool:
        """Whether the receiver accepted it."""
        return self.event == CALLED and self.outcome == "accepted"

    @property
    def ended(self) -> bool:
        """Whether it was given up or cancelled."""
        return self.event == CANCELLED or (self.event == CALLED and self.given_up)
