"""What a stream is for, by its name, and the keys beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import Forbidden
from streamops.model.authority import delayed_problem, tag_of
from streamops.model.streams import Mode, StreamRole
from streamops.wire.keys import (
    attempts_key,
    dead_letter_key,
    decoded_part,
    delayed_jobs_key,
    delayed_key,
    done_key,
    encoded_part,
    moved_key,
    payload_key,
    require_one_slot,
    retry_key,
    retry_parts,
    same_slot,
    stream_role,
)
from tests.support.strategies import names
from tests.support.tables import table

CONFIGURED = {"orders": "trash", "a:b": "a:b:errors"}


@table(
    ("name", "role", "source"),
    [
        ("orders", StreamRole.EVENTS, None),
        ("orders:dlq", StreamRole.DEAD_LETTERS, "orders"),
        ("{orders}:dlq", StreamRole.DEAD_LETTERS, "orders"),
        ("{a}:orders:dlq", StreamRole.DEAD_LETTERS, "{a}:orders"),
        ("a{b}c:dlq", StreamRole.DEAD_LETTERS, "a{b}c"),
        (":dlq", StreamRole.DEAD_LETTERS, None),
        ("{}:dlq", StreamRole.DEAD_LETTERS, None),
        ("dlq", StreamRole.EVENTS, None),
        ("trash", StreamRole.DEAD_LETTERS, "orders"),
        ("a:b:errors", StreamRole.DEAD_LETTERS, "a:b"),
        ("{orders}:retry:billing", StreamRole.RETRY, "orders"),
        ("{a}:orders:retry:billing", StreamRole.RETRY, "{a}:orders"),
        ("orders:retry:billing", StreamRole.EVENTS, None),
        ("{orders}:retry:", StreamRole.EVENTS, None),
        ("", StreamRole.EVENTS, None),
    ],
)
def test_name_of_a_stream_tells_its_role_and_source(name: str, role: StreamRole, source: str | None) -> None:
    assert stream_role(name, CONFIGURED) == (role, source)


def braced() -> st.SearchStrategy[str]:
    """Names of which many have braces, colons and bytes that are no UTF-8 in awkward places."""
    return st.one_of(names(), st.text("{}:%a\udcff", max_size=8))


def keys_beside(stream: str, group: str, key: str) -> tuple[str, ...]:
    return (
        dead_letter_key(stream),
        retry_key(stream, group),
        delayed_key(stream),
        delayed_jobs_key(stream),
        attempts_key(stream, group),
        moved_key(stream, "1-0"),
        payload_key(stream, "1-0"),
        done_key(stream, group, key),
    )


def test_names_of_the_keys_beside_a_stream() -> None:
    assert keys_beside("orders", "billing", "a:b%") == (
        "{orders}:dlq",
        "{orders}:retry:billing",
        "{orders}:delayed",
        "{orders}:delayed:jobs",
        "{orders}:attempts:billing",
        "{orders}:moved:1-0",
        "{orders}:payload:1-0",
        "{orders}:done:billing:a%3Ab%25",
    )
    assert dead_letter_key("orders", CONFIGURED) == "trash"
    assert dead_letter_key("payments", CONFIGURED) == "{payments}:dlq"


@table(
    ("stream", "tag"),
    [
        ("orders", "{orders}"),
        ("{orders}", "{orders}"),
        ("{shop}:orders", "{shop}:orders"),
        ("a{b}c{d}", "a{b}c{d}"),
        ("a{b", "{a{b}"),
    ],
)
def test_keys_beside_a_stream_have_its_hash_tag(stream: str, tag: str) -> None:
    assert tag_of(stream) == tag
    assert same_slot(stream, *keys_beside(stream, "g{x}", "k"))
    require_one_slot(Mode.CLUSTER, stream)


@table("stream", ["a}b", "{}x", "}", "a{}b", "", "x}{y}"])
def test_names_that_no_key_can_stand_beside(stream: str) -> None:
    if tag_of(stream) == stream:
        require_one_slot(Mode.CLUSTER, stream)
        return
    with pytest.raises(Forbidden, match="no key can be made in its hash slot") as refused:
        require_one_slot(Mode.CLUSTER, stream)
    assert "{orders}" in refused.value.hint
    require_one_slot(Mode.STANDALONE, stream)


def test_configured_keys_of_other_slots() -> None:
    with pytest.raises(Forbidden, match="trash cannot change together with it") as refused:
        require_one_slot(Mode.CLUSTER, "orders", "trash")
    assert refused.value.hint == "Their hash slots differ; names that begin with {orders} share its slot."
    require_one_slot(Mode.STANDALONE, "orders", "trash")


@given(braced(), braced(), braced())
def test_all_keys_share_the_slot_or_the_stream_is_refused(stream: str, group: str, key: str) -> None:
    try:
        require_one_slot(Mode.CLUSTER, stream)
    except Forbidden:
        return
    assert same_slot(stream, *keys_beside(stream, group, key))


@table(
    ("configured", "problem"),
    [
        ({"a": "later", "b": "soon"}, ""),
        ({"a": "{a}:delayed", "{a}": "{a}:delayed"}, ""),
        ({"a": "later", "b": "later"}, "later is the queue of a, and cannot be that of b too"),
        ({"a": "{b}:delayed"}, "{b}:delayed is the queue of b, and cannot be that of a too"),
    ],
)
def test_delayed_queue_of_two_streams_is_a_problem(configured: dict[str, str], problem: str) -> None:
    assert delayed_problem(configured).removeprefix("delayed: ") == problem


@given(st.tuples(braced(), braced()), st.tuples(braced(), braced()))
def test_keys_of_other_parts_are_other_keys(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (done_key("s", *one) == done_key("s", *other)) == (one == other)


@given(braced())
def test_parts_can_be_read_back(name: str) -> None:
    assert decoded_part(encoded_part(name)) == name
    if name:
        assert retry_parts(retry_key("orders", name)) == ("{orders}", name)
        assert stream_role(retry_key("orders", name), {}) == (StreamRole.RETRY, "orders")
