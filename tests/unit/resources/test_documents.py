"""JSON documents: the shapes that scripts rely on, lossless and safe to print."""

import base64
import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import EntryId, StreamEntry
from streamops.model.json_text import encode, payload_json, text_json
from streamops.model.observation import Rates
from streamops.resources.entries import entry_json
from streamops.resources.groups import group_detail_json, rates_json
from streamops.resources.status import status_document
from streamops.resources.streams import stream_json
from tests.support.invented import NOW, entry_id, minutes
from tests.support.resources.observations import AUDIT, BILLING, HOSTILE_NAME, OBSERVATION, ORDERS
from tests.support.resources.text import unsafe_characters
from tests.support.tables import table

PLAIN_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), inner)
    ),
    max_leaves=10,
)


def decoded(document: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON holds
    return json.loads(encode(document))


def test_the_status_document_has_the_shape_that_was_promised() -> None:
    document = decoded(status_document(OBSERVATION))
    assert document["schema"] == "streamops.status/1"
    assert document["collected_at"] == "2026-03-14T12:00:00.000Z"
    assert document["server"] == {"flavour": "redis", "version": "8.0.0", "mode": "standalone"}
    assert document["gaps"] == [
        {"scope": "stream secret", "reason": "no permission for this key"},
        {"scope": "group orders/mail consumers", "reason": "no answer in time"},
    ]
    orders = document["streams"][0]
    assert {key: orders[key] for key in orders if key != "groups"} == {
        "stream": "orders",
        "length": 10_000,
        "first_id": str(entry_id(minutes(60))),
        "last_id": str(entry_id()),
        "entries_added": 12_345,
        "health": "critical",
        "findings": [],
    }
    assert orders["groups"][0] == {
        "group": "billing",
        "consumers": 2,
        "pending": 4,
        "lag": {"entries": 1_204, "lower": 1_204, "upper": 1_204, "basis": "exact", "reason": "counted"},
        "time_lag_seconds": 250.0,
        "last_delivered_id": str(entry_id(minutes(5))),
        "entries_read": 8_796,
        "oldest_pending": {
            "id": str(entry_id(minutes(40))),
            "age_seconds": 2_400.0,
            "idle_seconds": 1_800.0,
            "free": False,
            "deliveries": 9,
            "consumer": "worker-1",
        },
        "rates": {"added_per_second": 12.5, "delivered_per_second": 3.25, "acked_per_second": 0.004},
        "lost": None,
        "lost_at_most": None,
        "retries": None,
        "health": "critical",
        "findings": [
            {
                "code": "stalled",
                "level": "critical",
                "text": "3 entries are pending and none was acknowledged for 6 min",
                "advice": "Look at worker-1.",
            },
            {
                "code": "lag_growing",
                "level": "warn",
                "text": "the lag grew from 10 to 1,204 in 5 min",
                "advice": "Add consumers.",
            },
        ],
    }


def test_what_is_not_known_is_null_and_never_zero() -> None:
    audit = decoded(status_document(OBSERVATION))["streams"][0]["groups"][2]
    assert audit["lag"]["entries"] is None
    assert audit["lag"]["basis"] == "unknown"
    assert audit["time_lag_seconds"] is None
    assert audit["entries_read"] is None
    assert audit["oldest_pending"]["age_seconds"] is None
    assert audit["rates"] is None
    assert rates_json(Rates(added_per_second=1.0)) == {
        "added_per_second": 1.0,
        "delivered_per_second": None,
        "acked_per_second": None,
    }


def test_a_name_that_is_not_utf8_keeps_its_bytes() -> None:
    name = decoded(status_document(OBSERVATION))["streams"][2]["stream"]
    assert base64.b64decode(name["base64"]) == HOSTILE_NAME.encode("utf-8", "surrogateescape")


def test_details_of_streams_and_groups() -> None:
    assert decoded(stream_json(ORDERS))["role"] == "events"
    detail = decoded(group_detail_json(BILLING))
    assert detail["members"][1] == {
        "consumer": "worker-2",
        "pending": 0,
        "idle_seconds": 0.85,
        "inactive_seconds": None,
    }
    assert detail["profile"]["idle"][-1] == {"up_to_seconds": None, "entries": 0}
    assert detail["profile"]["deliveries"][3] == {"up_to": 10, "entries": 1}
    assert detail["profile"]["coverage"] == 0.75
    assert decoded(group_detail_json(AUDIT))["members"] is None


@table(
    ("fields", "shown", "pairs"),
    [
        (((b"a", b"1"), (b"b", b"2")), {"a": "1", "b": "2"}, None),
        (((b"a", b"1"), (b"a", b"2")), {"a": "2"}, [["a", "1"], ["a", "2"]]),
        (((b"a", b"\xff"),), {"a": {"base64": "/w=="}}, None),
        (((b"\xff", b"1"),), {}, [[{"base64": "/w=="}, "1"]]),
        ((), {}, None),
    ],
)
def test_the_document_of_an_entry_has_pairs_where_fields_repeat(
    fields: tuple[tuple[bytes, bytes], ...], shown: dict[str, Any], pairs: list[Any] | None
) -> None:
    document = decoded(entry_json("orders", StreamEntry(entry_id(minutes(1)), fields), NOW))
    assert document["fields"] == shown
    assert document.get("pairs") == pairs
    assert document["time"] == "2026-03-14T11:59:00.000Z"
    assert document["age_seconds"] == 60.0
    assert entry_json("orders", StreamEntry(EntryId(2**63, 0), fields))["time"] is None


@given(st.binary(max_size=40))
def test_payloads_are_lossless(value: bytes) -> None:
    shown = json.loads(encode({"value": payload_json(value)}))["value"]
    assert (base64.b64decode(shown["base64"]) if isinstance(shown, dict) else shown.encode()) == value


@given(st.binary(max_size=40))
def test_names_are_lossless(value: bytes) -> None:
    shown = json.loads(encode({"value": text_json(value.decode("utf-8", "surrogateescape"))}))["value"]
    assert (base64.b64decode(shown["base64"]) if isinstance(shown, dict) else shown.encode()) == value


@given(PLAIN_JSON, st.sampled_from([0, 2]))
def test_whatever_is_encoded_is_the_same_json_and_safe_to_print(value: Any, indent: int) -> None:  # noqa: ANN401
    text = encode({"value": value}, indent=indent)
    assert msgspec.json.decode(text) == {"value": value}
    assert not unsafe_characters(text.replace("\n", ""))
    assert indent or "\n" not in text


def test_unsafe_characters_are_json_escapes() -> None:
    assert encode({"a": "\x1b\x9b\u202e\U000e0041日本"}) == r'{"a":"\u001b\u009b\u202e\udb40\udc41日本"}'
