"""Purging dead letters."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.dead_letters import DeadLetter
from streamops.model.fields import backup_file
from streamops.model.selections import LetterSelection, SelectedLetters


class PurgeIntent(LetterSelection, frozen=True, kw_only=True):
    """Delete dead letters for good, after they were written to a file."""

    backup: Annotated[str | None, backup_file("the letters")] = None


class PurgeEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a purge.

    Attributes:
        identity: Which queue this is.
        letters: Which letters are meant.
        sample: The first few of them.
    """

    identity: Identity
    letters: SelectedLetters
    sample: tuple[DeadLetter, ...] = ()
