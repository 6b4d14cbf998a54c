"""What one check of the self-check found."""

from msgspec import Struct

from streamops.model.observation import Health


class Examination(Struct, frozen=True):
    """What one check found.

    Attributes:
        topic: What was checked.
        health: How that is; ``UNKNOWN`` where it could not be told.
        text: What was found, in one sentence.
        advice: What to do; empty where nothing needs doing.
    """

    topic: str
    health: Health
    text: str
    advice: str = ""
