"""Signatures: what a stranger who saw a call can do with it, and what receivers make of hostile headers."""

import re
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamops.model.secret import Secret
from streamops.webhooks.signing import LONGEST_STAMP, sign, verify
from tests.support.project import PROJECT
from tests.support.tables import table

KEY: Final = Secret("the topic's secret")
NOW: Final = 1_700_000_000
BODY: Final = b'{"n": 1}'
CALL: Final = {"url": "https://h/o", "topic": "orders", "key": "1-1", "ident": "o-7"}
BOTH: Final = sign(KEY, NOW, BODY, **CALL)
FIRST: Final = BOTH.partition(",v2=")[0]
SECOND: Final = f"t={NOW},{BOTH.rpartition(',')[2]}"

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=40)
PART = st.one_of(
    ANY_TEXT, st.sampled_from([*BOTH.split(","), "t=", "v1", "v2=", f"t={'9' * 5000}", "t=\u0661"])
)


def holds(signature: str, body: bytes = BODY, **changed: Any) -> bool:
    return verify(KEY, signature, body, **{"now": NOW, **CALL, **changed})


@pytest.mark.parametrize("signature", [BOTH, SECOND])
@pytest.mark.parametrize("require", ["v1", "v2"])
def test_a_call_as_it_was_sent_is_accepted(signature: str, require: str) -> None:
    assert holds(signature, require=require)
    assert holds(signature, now=NOW + 300, require=require)


@table(
    ("signature", "changed"),
    product(
        [BOTH, SECOND],
        [{name: value} for name in CALL for value in ("another", "", f"{CALL[name]}\n", "\ud800")]
        + [{name: None} for name in ("topic", "key", "ident")]
        + [{"key": "1-1\no-7", "ident": ""}, {"body": BODY + b" "}, {"now": NOW + 301}, {"now": NOW - 301}],
    ),
)
def test_a_call_that_was_seen_cannot_be_made_another(signature: str, changed: dict[str, Any]) -> None:
    assert not holds(signature, **changed)


def test_the_first_version_alone_is_accepted_unless_the_second_is_required() -> None:
    assert holds(FIRST)
    assert not holds(FIRST, require="v2")
    assert not holds(FIRST, BODY + b" ")


def test_receivers_that_know_the_first_version_alone_go_on() -> None:
    assert verify(KEY, BOTH, BODY, now=NOW)
    assert not verify(KEY, BOTH, BODY + b" ", now=NOW)
    assert not verify(Secret("another one"), BOTH, BODY, now=NOW)
    assert not verify(KEY, BOTH, BODY, now=NOW, require="v2")


@table("repeated", [f"t={NOW}", BOTH.split(",")[1], BOTH.split(",")[2], "x=1,x=2"])
def test_a_part_that_is_stated_twice_is_refused(repeated: str) -> None:
    assert not holds(f"{BOTH},{repeated}")
    assert not holds(f"{repeated},{BOTH}")


@given(st.lists(PART, max_size=5).map(",".join), ANY_TEXT, ANY_TEXT, st.binary(max_size=20))
@example(f"t={'9' * 5000},v1=x", "", "", b"")
@example(f"t={'9' * LONGEST_STAMP},v1=x", "", "", b"")
@example(f"t={NOW},v1=\u00e9", "", "", b"")
@example(f"t={NOW},v2=\udcff", "", "", b"")
@example("t=\u00b2,v1=x", "", "", b"")
def test_no_header_raises_and_none_that_was_made_up_is_accepted(
    signature: str, key: str, topic: str, body: bytes
) -> None:
    for call in ({}, {"url": "https://h/o", "topic": topic, "key": key, "ident": key}):
        for require in ("v1", "v2"):
            assert not verify(KEY, signature, body + b"?", now=NOW, require=require, **call)  # type: ignore[arg-type]


def test_the_receiver_of_the_documentation_tells_ours_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    text = (PROJECT / "docs" / "webhooks.md").read_text()
    (program,) = [one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "verify(" in one]
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 - our own documentation
    call = {**CALL, "url": "https://hooks.example.net/orders"}
    headers = {
        "X-Streamops-Signature": sign(KEY, NOW, BODY, **call),
        "X-Streamops-Topic": "orders",
        "Idempotency-Key": "1-1",
        "X-Streamops-Id": "o-7",
    }
    assert names["is_ours"](headers, BODY)
    assert not names["is_ours"]({**headers, "Idempotency-Key": "1-2"}, BODY)
    assert not names["is_ours"]({}, BODY)
