"""JSON documents: snake case, spans in seconds, RFC 3339 timestamps in UTC, null for what is not known.

A text that is not UTF-8 is ``{"base64": "..."}``; prose with names in it (findings, reasons) has such bytes escaped.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from streamops.model.entries import PendingEntry, StreamEntry, id_age
from streamops.model.envelopes import Envelope, read_envelope
from streamops.model.json_text import Json, payload_json, text_json
from streamops.model.lag import Lag
from streamops.model.observation import Finding, GroupView, Observation, Rates, Retries, StreamView
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.model.streams import Consumer, ReadError, ServerInfo
from streamops.resources.cells import id_text, idle_seconds, rounded, seconds
from streamops.resources.rows import PendingRow
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
            {**_stream_head(view), "groups": [group_json(group) for group in view.groups]}
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


def stream_json(view: StreamView) -> Json:
    """A stream with everything that is known about it, and its groups."""
    state = view.stream
    return {
        **_stream_head(view),
        "last_generated_id": id_text(state.last_generated_id),
        "max_deleted_id": id_text(state.max_deleted_id),
        "entry_bytes": state.entry_bytes,
        "added_per_second": rounded(view.added_per_second),
        "role": state.role,
        "source": None if state.source is None else text_json(state.source),
        "groups": [group_json(group) for group in view.groups],
    }


def _stream_head(view: StreamView) -> Json:
    state = view.stream
    return {
        "stream": text_json(state.name),
        "length": state.length,
        "first_id": id_text(state.first_id),
        "last_id": id_text(state.last_id),
        "entries_added": state.entries_added,
        "health": view.health.word,
        "findings": findings_json(view.findings),
    }


def group_json(view: GroupView) -> Json:
    """A group as ``status`` has it."""
    group = view.group
    return {
        "group": text_json(group.name),
        "consumers": group.consumers,
        "pending": group.pending,
        "lag": lag_json(group.lag),
        "time_lag_seconds": seconds(group.time_lag.age),
        "last_delivered_id": str(group.last_delivered_id),
        "entries_read": group.entries_read,
        "oldest_pending": _oldest_json(view),
        "rates": rates_json(view.rates),
        "lost": view.lost,
        "lost_at_most": view.lost_at_most,
        "retries": None if view.retries is None else _retries_json(view.retries),
        "health": view.health.word,
        "findings": findings_json(view.findings),
    }


def group_detail_json(view: GroupView) -> Json:
    """A group with its consumers and the distribution of its pending entries."""
    group = view.group
    members = None if group.members is None else [consumer_json(member) for member in group.members]
    return {
        "stream": text_json(view.stream),
        **group_json(view),
        "time_lag_reason": safe(group.time_lag.reason) or None,
        "reported_lag": group.reported_lag,
        "lag_per_second": rounded(view.rates.lag_per_second),
        "members": members,
        "profile": None if group.profile is None else profile_json(group.profile),
    }


def lag_json(lag: Lag) -> Json:
    """The lag, its bounds and what it rests on."""
    return {
        "entries": lag.entries,
        "lower": lag.lower,
        "upper": lag.upper,
        "basis": lag.basis,
        "reason": safe(lag.reason),
    }


def _retries_json(retries: Retries) -> Json:
    """Entries due again for one group."""
    return {"length": retries.length, "pending": retries.pending, "lag": lag_json(retries.lag)}


def rates_json(rates: Rates) -> Json | None:
    """The three rates; null where none of them is known yet."""
    known = (rates.added_per_second, rates.delivered_per_second, rates.acked_per_second)
    if all(number is None for number in known):
        return None
    added, delivered, acked = map(rounded, known)
    return {"added_per_second": added, "delivered_per_second": delivered, "acked_per_second": acked}


def _oldest_json(view: GroupView) -> Json | None:
    oldest = view.group.oldest_pending
    return None if oldest is None else _pending_json(oldest, seconds(view.group.oldest_pending_age))


def pending_json(row: PendingRow) -> Json:
    """One pending entry."""
    return _pending_json(row.entry, seconds(row.age))


def _pending_json(entry: PendingEntry, age_seconds: float | None) -> Json:
    return {
        "id": str(entry.id),
        "age_seconds": age_seconds,
        "idle_seconds": idle_seconds(entry),
        "free": entry.free,
        "deliveries": entry.delivery_count,
        "consumer": text_json(entry.consumer),
    }


def profile_json(profile: PendingProfile) -> Json:
    """The distribution of pending entries; the last bucket of each has no upper end."""
    idle_ends = [bound.total_seconds() for bound in IDLE_BOUNDS]
    longest, most = profile.longest_idle, profile.most_delivered
    return {
        "scanned": profile.scanned,
        "coverage": round(profile.coverage, 4),
        "idle": _buckets("up_to_seconds", idle_ends, profile.idle_buckets),
        "deliveries": _buckets("up_to", list(DELIVERY_BOUNDS), profile.delivery_buckets),
        "longest_idle": None if longest is None else _profiled(longest),
        "most_delivered": None if most is None else _profiled(most),
    }


def _profiled(entry: PendingEntry) -> Json:
    return {key: value for key, value in _pending_json(entry, None).items() if key != "age_seconds"}


def _buckets(end: str, ends: Sequence[float], counts: Sequence[int]) -> list[Json]:
    return [{end: bound, "entries": number} for bound, number in zip((*ends, None), counts, strict=True)]


def consumer_json(consumer: Consumer) -> Json:
    """One consumer."""
    return {
        "consumer": text_json(consumer.name),
        "pending": consumer.pending,
        "idle_seconds": seconds(consumer.idle),
        "inactive_seconds": seconds(consumer.inactive),
        **({} if consumer.alive is None else {"alive": consumer.alive}),
    }


def entry_json(stream: str, entry: StreamEntry, now: datetime | None = None) -> Json:
    """One entry, with what ``fields_json`` tells."""
    told = fields_json(entry.fields)
    document: Json = {
        "stream": text_json(stream),
        "id": str(entry.id),
        "time": None if entry.id.time is None else rfc3339(entry.id.time),
        "fields": told["fields"],
    }
    if now is not None:
        document["age_seconds"] = seconds(id_age(entry.id, now))
    return document | told


def fields_json(pairs: Sequence[tuple[bytes, bytes]]) -> Json:
    """``fields`` by name, and where a name repeats or is binary, ``pairs`` with all of them in order.

    ``envelope`` is what another library put into one, taken out of it.
    """
    told = [(payload_json(name), payload_json(value)) for name, value in pairs]
    fields = {name: value for name, value in told if isinstance(name, str)}
    document: Json = {"fields": fields}
    if len(fields) < len(told):
        document["pairs"] = [list(pair) for pair in told]
    if (envelope := read_envelope(tuple(pairs))) is not None:
        document["envelope"] = _envelope_json(envelope)
    return document


def _envelope_json(envelope: Envelope) -> Json:
    return {
        "library": envelope.library,
        "task": envelope.task or None,
        "headers": dict(envelope.headers),
        "body": payload_json(envelope.body),
    }


def findings_json(findings: Iterable[Finding]) -> list[Json]:
    """Findings in their order."""
    return [
        {
            "code": found.code,
            "level": found.level.word,
            "text": safe(found.text),
            "advice": safe(found.advice),
        }
        for found in findings
    ]


def read_errors_json(gaps: Iterable[ReadError]) -> list[Json]:
    """What could not be read, and why."""
    return [{"scope": safe(gap.scope), "reason": safe(gap.reason)} for gap in gaps]
