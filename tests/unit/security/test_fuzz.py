"""Whatever stands in Redis, in a file or in a URL: it is decoded, or refused in our own words; nothing else ever comes out.
``STREAMOPS_EXAMPLES=long`` tries more.

What these decoders are given is written by others: producers, other tenants of the server, whoever sends a file.
"""

import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from streamops.autoscaling.history import read_history
from streamops.errors import StreamopsError
from streamops.model.acting import Outcome, Plan
from streamops.model.dead_letters import dead_letter_document, read_dead_letter
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.envelopes import read_envelope
from streamops.model.expressions import Expression
from streamops.model.name_patterns import matches
from streamops.model.schedules import parse_schedule
from streamops.operations.packing import unpack, unpack_values
from streamops.operations.restore.survey import parse_entry
from streamops.operations.undo_snapshots import unpack_pages
from streamops.resources.payloads import Decoding, decode_as, preview, render_entry
from streamops.service.web_config import decode_web_config
from streamops.settings.decoding import decode_config
from streamops.settings.files import read_project
from streamops.wire.delayed import decode_body
from streamops.wire.pools.records import decode_pool
from streamops.wire.pools.registry import decode_worker
from streamops.wire.topics import decode_topic
from streamops.wire.urls import parse_url
from streamops.wire.writes.jobs import decode_job
from tests.support.invented import NOW

DEEP = (b"[" * 5_000, b'{"a":' * 5_000, b"\x91" * 5_000, b"\x81\xa1a" * 5_000)
"""Nested until anything that recurses is at its end."""

ID = EntryId(1_700_000_000_000, 0)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
packed_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=16,
)
msgpack = packed_values.map(msgspec.msgpack.encode)


def json_of(keys: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    """JSON objects whose keys are those that a decoder looks for."""
    tables = st.dictionaries(st.sampled_from(keys), json_values, max_size=len(keys))
    return tables.map(lambda value: msgspec.json.encode(_finite(value)))


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case int():
            return value if abs(value) < 2**63 else str(value)
        case list():
            return [_finite(item) for item in value]
        case dict():
            return {key: _finite(item) for key, item in value.items()}
    return value


def refused(work: Callable[[], object], *kinds: type[Exception]) -> None:
    """Do it; nothing but our own errors, and the kinds that the decoder's words promise, may come of it."""
    with suppress(StreamopsError, *kinds):
        work()


TOPIC_KEYS = (
    "v",
    "url",
    "method",
    "delay_seconds",
    "time_to_run_seconds",
    "headers",
    "priority",
    "retry",
    "secret",
)
PLAN_KEYS = (
    "operation",
    "target",
    "tier",
    "count",
    "sample",
    "effects",
    "$bytes",
    "elapsed",
    "skipped",
    "requested",
)


@given(st.one_of(st.binary(max_size=80), msgpack, st.sampled_from(DEEP)))
def test_bodies_of_delayed_messages(raw: bytes) -> None:
    refused(lambda: decode_body(raw), ValueError)


@given(st.one_of(st.binary(max_size=80), json_of(TOPIC_KEYS), st.sampled_from(DEEP)))
def test_topics_of_any_bytes_raise_nothing_unforeseen(raw: bytes) -> None:
    refused(lambda: decode_topic("t", raw), ValueError, RecursionError)


@given(st.one_of(st.binary(max_size=80), json_of(PLAN_KEYS), st.sampled_from(DEEP)))
def test_records_of_the_audit_log_and_of_jobs(raw: bytes) -> None:
    for kind in (Plan, Outcome):
        refused(lambda kind=kind: unpack(kind, raw))  # type: ignore[misc]  # mypy knows no default of a lambda
    refused(lambda: unpack_values(raw))


@given(
    st.one_of(
        st.binary(max_size=80), packed_values.map(lambda value: zlib.compress(msgspec.msgpack.encode(value)))
    )
)
def test_rows_to_undo_of_any_bytes_raise_nothing_unforeseen(raw: bytes) -> None:
    refused(lambda: unpack_pages(raw))


pool_fields = st.sampled_from(
    [b"desired", b"desired_at", b"override", b"steered_until", b"leader", b"leader_until", b"term", b"decision",
     b"n:up:backlog", b"updated_at", b"errors", b"min", b"max", b"mode"]
)  # fmt: skip
numbers = st.integers(-(2**70), 2**70).map(lambda number: str(number).encode())


@given(st.lists(st.tuples(pool_fields | st.binary(max_size=8), numbers | st.binary(max_size=20)), max_size=8))
@example([(b"decision", DEEP[0]), (b"desired", "²".encode())])
def test_hashes_of_pools_of_any_bytes_raise_nothing_unforeseen(pairs: list[tuple[bytes, bytes]]) -> None:
    decode_pool("p", [part for pair in pairs for part in pair])


job_fields = st.sampled_from([b"state", b"requested", b"applied", b"created_ms", b"lease_ms", b"rate"])
states = st.sampled_from([b"running", b"done"])


@given(st.lists(st.tuples(job_fields, states | numbers | st.binary(max_size=8)), max_size=9))
@example([(b"state", b"running"), (b"lease_ms", b"9" * 30)])
@example([(b"state", b"another")])
def test_hashes_of_jobs_of_any_bytes_raise_nothing_unforeseen(pairs: list[tuple[bytes, bytes]]) -> None:
    decode_job("j", [part for pair in pairs for part in pair], NOW)


@given(
    st.text(max_size=40)
    | st.lists(st.integers() | st.floats() | st.text(max_size=4), min_size=5, max_size=5).map(
        lambda parts: " ".join(map(str, parts))
    )
)
@example("1 nan inf 1e999 ready")
@example("9 " + "9" * 5000 + " 1 1 running")
def test_a_roster_of_any_text_raises_nothing_unforeseen(told: str) -> None:
    decode_worker("w", told)


urls = st.lists(
    st.sampled_from(["redis", "rediss", "unix", "sentinel", "cluster", "+", "://", ":", "@", "/", "?", "#", "&", "=",
                     "[", "]", "%", "%zz", "%00", "::1", "fe80::1%25lo", "host", "6379", "99999", "0", "-1", ",",
                     "db", "timeout", "verify", "ca", "\x00", "\x1b", "\udcff", "é", "²", " "]),
    max_size=14,
).map("".join)  # fmt: skip


@given(urls | st.text(max_size=40))
def test_urls_of_any_text_raise_nothing_unforeseen(text: str) -> None:
    refused(lambda: parse_url(text))


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"a = " + b"[" * 50_000)
@example(b"a = " + b"9" * 50_000)
@example(b"a." * 30_000 + b"a = 1")
@example(b"[" + b"a." * 30_000 + b"a]")
def test_files_of_settings_of_any_text_raise_nothing_unforeseen(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "streamops.toml"
        path.write_bytes(content)
        read_project(path, {})


tables = st.sampled_from(["contexts", "health", "console", "views", "retention", "topics", "callbacks", "intake",
                          "pools", "budgets", "exporter", "notify", "default_context", "x"])  # fmt: skip
inner = st.sampled_from(["url", "host", "port", "name", "headers", "secret_file", "retry", "priority", "stream", "group",
                         "command", "get", "set", "hosts", "keymap", "refresh", "where", "listen"])  # fmt: skip
toml_values = st.recursive(
    st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.datetimes()
    | st.times(),
    lambda value: (
        st.lists(value, max_size=3) | st.dictionaries(inner | st.text(max_size=4), value, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(tables, toml_values, max_size=4))
@example({"topics": [{"name": "t", "url": "http://[", "retry": "9" * 5000, "priority": "²"}]})
def test_tables_of_settings_of_any_values_raise_nothing_unforeseen(table: dict[str, Any]) -> None:
    decode_config(table, "streamops.toml")


@given(st.binary(max_size=60) | json_values.map(lambda value: msgspec.json.encode(_finite(value))))
@example(b"[" * 1_000)
@example(b"a: &a [*a, *a]")
@example(
    b"a: &a [1,2,3,4,5,6,7,8,9]\n"
    + b"".join(b"b%d: &b%d [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" % (n, n) for n in range(9))
)
def test_web_config_files_of_any_text_raise_nothing_unforeseen(content: bytes) -> None:
    refused(lambda: decode_web_config(content, "web.yml"))


words = st.sampled_from(["fields", "json", "id", "time", ".", "[", "]", "*", "@", "|", "||", "&&", "!", "==", "<", ">=",
                         "(", ")", "{", "}", ":", ",", "`1`", "`[1,[2,3]]`", "'a'", '"b"', "&", "[]", "[*]", "[?", "[0]", "[::0]",
                         "[-1]", "to_string", "length", "join", "sort_by", "max_by", "map", "sum", "contains", "-1", "`"])  # fmt: skip


@given(
    st.lists(words, max_size=14).map("".join),
    st.lists(st.tuples(st.binary(max_size=4), st.binary(max_size=20)), max_size=3),
)
@example("(" * 20_000, [(b"a", b"1")])
@example("fields." * 20_000 + "a", [(b"a", b"1")])
@example("to_number(fields.a) > `1`", [(b"a", b"9" * 5_000)])
@example("json.a == json.b", [(b"a", DEEP[0]), (b"b", DEEP[1])])
@example("avg(json.a) > `1`", [(b"a", b"[1e308, 1e308, -1e308]")])
def test_expressions_of_any_text_raise_nothing_unforeseen(
    text: str, fields: list[tuple[bytes, bytes]]
) -> None:
    refused(lambda: Expression(text).matches(StreamEntry(ID, tuple(fields))))


values = st.one_of(
    st.binary(max_size=60), msgpack, json_values.map(lambda value: msgspec.json.encode(_finite(value)))
)
names = st.sampled_from([b"__data__", b"data", b"payload", b"orig_id", b"reason", b"_so_origin", b"_so_failed_at",
                         b"_so_deliveries", b"_so_reason", b"_so_error", b"_so_payload"]) | st.binary(max_size=5)  # fmt: skip
MAGIC = b"\x89BIN\x0d\x0a\x1a\x0a"


@given(
    st.lists(
        st.tuples(names, values | st.binary(max_size=40).map(lambda rest: MAGIC + b"\0\1" + rest)), max_size=4
    )
)
@example([(b"data", DEEP[1]), (b"__data__", DEEP[1]), (b"payload", DEEP[1])])
@example([(b"__data__", MAGIC + b"\0\1" + b"\xff" * 100)])
@example([(b"_so_failed_at", b"9" * 5_000), (b"_so_deliveries", b"9" * 5_000)])
def test_entries_in_envelopes_and_dead_letters(fields: list[tuple[bytes, bytes]]) -> None:
    entry = StreamEntry(ID, tuple(fields))
    read_envelope(entry.fields)
    dead_letter_document(read_dead_letter(entry, "orders:dlq", None))
    assert preview(entry).isprintable()
    for view in render_entry(entry):
        assert view.name.isprintable()
    for _, value in fields:
        for decoding in Decoding:
            decode_as(value, decoding)


@given(st.text(alphabet="ab*?[]^-\\é\udcff", max_size=20), st.text(max_size=20))
@example("*a" * 40 + "b", "a" * 5_000)
@example("[" + "a-" * 5_000, "a")
def test_patterns_of_names_of_any_text_raise_nothing_unforeseen(pattern: str, name: str) -> None:
    matches(pattern, name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"))


@given(
    st.binary(max_size=60) | json_of(("stream", "id", "fields", "pairs", "base64")) | st.sampled_from(DEEP)
)
def test_lines_of_backups_of_any_text_raise_nothing_unforeseen(line: bytes) -> None:
    refused(lambda: parse_entry(line), ValueError, RecursionError)


@given(
    st.lists(
        st.text(max_size=30) | json_of(("time", "arrivals", "workers", "busy")).map(bytes.decode), max_size=5
    )
)
@example(["time,arrivals", "0,1", '1,"' + "9" * 140_000])
@example([DEEP[1].decode()])
def test_files_of_histories_of_any_text_raise_nothing_unforeseen(lines: list[str]) -> None:
    refused(lambda: read_history(lines, "history.csv"))


@given(
    st.text(max_size=20)
    | st.lists(
        st.sampled_from(["2n+1", "m", "s", "10", "x", "2", "^", "1s,", "up", "to", "9" * 40]), max_size=6
    ).map(" ".join)
)
def test_schedules_of_any_text_raise_nothing_unforeseen(text: str) -> None:
    refused(lambda: parse_schedule(text), ValueError)
