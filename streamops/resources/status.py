"""The status of all streams as one JSON document, and as many rows of it as are asked for."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from streamops.model.json_text import Json
from streamops.model.observation import Observation, StreamView
from streamops.model.streams import ReadError, ServerInfo
from streamops.resources.findings import findings_json
from streamops.resources.groups import GroupRow, group_json
from streamops.resources.streams import stream_head_json
from streamops.resources.text import safe
from streamops.resources.units import rfc3339


def status_document(observation: Observation, *, left_out: int = 0) -> Json:
    """``streamops.status/1``: the server, its streams, their groups, and what could not be read."""
    snapshot = observation.snapshot
    return {
        "schema": "streamops.status/1",
        **snapshot_header(observation),
        "health": observation.health.word,
        "findings": findings_json(observation.findings),
        "streams": [
            {**stream_head_json(view), "groups": [group_json(group) for group in view.groups]}
            for view in observation.streams
        ],
        "gaps": read_errors_json(snapshot.gaps),
        **({"left_out": left_out} if left_out else {}),
    }


def snapshot_header(observation: Observation) -> Json:
    """When and from where: ``collected_at`` and ``server``."""
    snapshot = observation.snapshot
    return {"collected_at": rfc3339(snapshot.collected_at), "server": server_json(snapshot.server)}


def server_json(server: ServerInfo) -> Json:
    """Flavour, version and mode; null where no node said."""
    return {"flavour": server.flavour, "version": server.version or None, "mode": server.mode}


def read_errors_json(gaps: Iterable[ReadError]) -> list[Json]:
    """What could not be read, and why."""
    return [{"scope": safe(gap.scope), "reason": safe(gap.reason)} for gap in gaps]


def limited(observation: Observation, rows: Sequence[GroupRow], limit: int | None) -> tuple[Observation, int]:
    """Keep what the first ``limit`` rows show; return that part of the observation and how many rows are left out."""
    if limit is None or len(rows) <= limit:
        return observation, 0
    kept: dict[str, StreamView] = {}
    for row in rows[:limit]:
        name = row.stream.stream.name
        groups = kept[name].groups if name in kept else ()
        added = (row.group,) if row.group is not None else ()
        kept[name] = replace(row.stream, groups=(*groups, *added))
    return replace(observation, streams=tuple(kept.values())), len(rows) - limit
