"""Purging dead letters."""

from typing import Annotated

from streamops.model.fields import backup_file
from streamops.model.selections import LetterSelection


class PurgeIntent(LetterSelection, frozen=True, kw_only=True):
    """Delete dead letters for good, after they were written to a file."""

    backup: Annotated[str | None, backup_file("the letters")] = None
