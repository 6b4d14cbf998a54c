"""Retention policies at work, as documents."""

from streamops.model.json_text import Json, text_json
from streamops.model.retention import RetentionRow
from streamops.resources.columns.retention import RETENTION_COLUMNS


def retention_json(row: RetentionRow) -> Json:
    """What a policy came to for one stream, as JSON."""
    values = {column.key: column.value(row) for column in RETENTION_COLUMNS}
    return {key: text_json(value) if isinstance(value, str) else value for key, value in values.items()}
