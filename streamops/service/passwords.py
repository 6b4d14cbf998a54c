"""Basic authentication against bcrypt hashes: off the event loop, and not twice for the same password."""

import asyncio
import hmac
import secrets
from base64 import b64decode
from binascii import Error as BadBase64
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import bcrypt

AT_ONCE: Final = 1
"""Hashes computed at once: who guesses passwords gets no more of the machine than this."""

KEPT: Final = 100
"""Passwords that are remembered, of those that are right and of those that are wrong."""

BCRYPT_BYTES: Final = 72
"""What bcrypt looks at; other programs drop the rest silently, and hashes are made by them."""


class Credentials(NamedTuple):
    """What a client says it is."""

    user: str
    password: bytes


class Passwords:
    """Who is let in.

    Args:
        users: bcrypt hashes by user name; none at all lets everybody in.
    """

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = dict(users)
        # Somebody unknown costs what somebody known costs, so that time tells nobody which names there are.
        self._nobody = next((f"{written[:7]}{'.' * 53}" for written in users.values()), "")
        self._secret = secrets.token_bytes(32)
        # Apart, so that no number of guesses makes those who know theirs wait for their turn.
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._wrong: OrderedDict[bytes, None] = OrderedDict()
        self._turns = asyncio.Semaphore(AT_ONCE)

    @property
    def asked(self) -> bool:
        """Whether anybody has to show one."""
        return bool(self._users)

    async def let_in(self, authorization: str | None, waits: Callable[[], bool] = lambda: True) -> bool:
        """Whether an ``Authorization`` header is good enough.

        Args:
            authorization: The header; none where there is none.
            waits: Whether whoever asks still waits for it when its turn comes; else nothing is computed.
        """
        if not self._users:
            return True
        given = decode_basic(authorization)
        if given is None:
            return False
        # What is kept is no password, and cannot be looked up by anybody who does not know the key.
        key = hmac.digest(self._secret, given.user.encode() + b"\0" + given.password, "sha256")
        verdict = self._known(key)
        if verdict is None:
            async with self._turns:
                verdict = self._known(key)
                if verdict is None:
                    if not waits():
                        return False
                    verdict = await asyncio.to_thread(self._check, given)
                    _keep(self._right if verdict else self._wrong, key)
        return verdict

    def _known(self, key: bytes) -> bool | None:
        return True if key in self._right else False if key in self._wrong else None

    def _check(self, given: Credentials) -> bool:
        written = self._users.get(given.user)
        try:
            same = bcrypt.checkpw(given.password[:BCRYPT_BYTES], (written or self._nobody).encode())
        except ValueError:
            return False
        return same and written is not None


def _keep(keys: OrderedDict[bytes, None], key: bytes) -> None:
    keys[key] = None
    if len(keys) > KEPT:
        keys.popitem(last=False)


def decode_basic(authorization: str | None) -> Credentials | None:
    """User and password of a header; none where it holds none."""
    scheme, _, coded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = b64decode(coded.strip(), validate=True).partition(b":")
        return Credentials(user.decode(), password) if colon else None
    except (BadBase64, ValueError):
        return None
