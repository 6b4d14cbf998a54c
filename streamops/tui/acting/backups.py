"""Where what is about to be lost is written first, unless the person names another file or none."""

import os
from contextlib import suppress

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.fields import intent_fields
from streamops.settings.backups import new_backup
from streamops.tui.subjects import Subject


def backup_for(operation: str, intent: type[Struct], subject: Subject | None) -> dict[str, str]:
    """A new file in the state directory as the form's value; nothing where none is written, or there is no such place."""
    if subject is None:
        return {}
    target = list(filter(None, [subject.stream, subject.group]))
    with suppress(SettingsError):
        return {
            field.name: new_backup(operation, target, os.environ)
            for field in intent_fields(intent)
            if field.backup
        }
    return {}
