"""Who is let in by a password, and what that costs."""

import asyncio
from base64 import b64encode

import bcrypt
import pytest

from streamops.service import authentication
from streamops.service.authentication import Passwords, decode_basic


def hashed(password: str, prefix: bytes = b"2b") -> str:
    return bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(4, prefix)).decode()


def basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


LONG = "x" * 72
USERS = Passwords(
    {"alice": hashed("a:secret"), "bob": hashed("ünder", b"2a"), "carol": hashed(LONG), "dave": hashed("")}
)


@pytest.mark.parametrize(
    ("header", "let_in"),
    [
        (basic("alice", "a:secret"), True),
        (basic("alice", "a:secret").replace("Basic", "basic"), True),
        (basic("bob", "ünder"), True),
        (basic("carol", LONG + "what bcrypt does not look at"), True),
        (basic("dave", ""), True),
        (basic("alice", "secret"), False),
        (basic("alice", ""), False),
        (basic("bob", "a:secret"), False),
        (basic("", ""), False),
        (basic("mallory", "a:secret"), False),
        (basic("alice", "nul\0byte"), False),
        ("Bearer abc", False),
        ("Basic", False),
        ("Basic !!!", False),
        ("Basic " + b64encode(b"no colon").decode(), False),
        ("Basic " + b64encode(b"\xff\xfe:x").decode(), False),
        (None, False),
        ("", False),
    ],
)
async def test_a_header_lets_in_or_does_not(header: str | None, let_in: bool) -> None:  # noqa: FBT001 - a table
    assert await USERS.let_in(header) is let_in
    assert await USERS.let_in(header) is let_in


async def test_nobody_is_asked_where_there_are_no_users() -> None:
    assert await Passwords({}).let_in(None)


async def test_a_hash_is_computed_once_for_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[bytes] = []
    check = bcrypt.checkpw

    def note(password: bytes, written: bytes) -> bool:
        checked.append(password)
        return check(password, written)

    monkeypatch.setattr("bcrypt.checkpw", note)
    users = Passwords({"alice": hashed("one")})
    for _ in range(3):
        answers = await asyncio.gather(*(users.let_in(basic("alice", "one")) for _ in range(10)))
        assert all(answers)
        assert not await users.let_in(basic("alice", "two"))
        # Somebody unknown costs what somebody known costs.
        assert not await users.let_in(basic("mallory", "three"))
    assert checked == [b"one", b"two", b"three"]


async def test_what_is_kept_is_bounded_and_no_password() -> None:
    users = Passwords({"alice": hashed("one")})
    for number in range(authentication.KEPT + 20):
        await users.let_in(basic("alice", f"guess-{number}"))
    assert len(users._wrong) == authentication.KEPT
    assert not any(b"guess" in key for key in users._wrong)


async def test_guesses_do_not_make_who_knows_the_password_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    users = Passwords({"alice": hashed("one")})
    assert await users.let_in(basic("alice", "one"))
    for number in range(authentication.KEPT + 1):
        await users.let_in(basic("alice", f"guess-{number}"))

    def never(_: bytes, __: bytes) -> bool:
        raise AssertionError

    monkeypatch.setattr("bcrypt.checkpw", never)
    assert await users.let_in(basic("alice", "one"))


async def test_nothing_is_computed_for_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the turns of all that came and went would have to pass before anybody else's."""
    checked: list[bytes] = []
    check = bcrypt.checkpw

    def note(password: bytes, written: bytes) -> bool:
        checked.append(password)
        return check(password, written)

    monkeypatch.setattr("bcrypt.checkpw", note)
    users = Passwords({"alice": hashed("one")})
    left = [users.let_in(basic("alice", f"guess-{number}"), lambda: False) for number in range(20)]
    assert (await asyncio.gather(*left, users.let_in(basic("alice", "one"))))[-1]
    assert checked == [b"one"]


def test_a_password_may_hold_colons_and_bytes() -> None:
    assert decode_basic("Basic " + b64encode(b"user:a:\xff").decode()) == ("user", b"a:\xff")
