"""Options may be printed, encoded and compared without telling a secret."""

import copy

import msgspec
import pytest

from streamops.wire.options import ConnectionOptions, Secret

PLANTED = "hunter2-planted"


def test_secret_never_prints_itself() -> None:
    secret = Secret(PLANTED)
    options = ConnectionOptions(password=secret, sentinel_password=secret)
    for printed in (repr(secret), str(secret), f"{secret}", f"{secret!r:>20}", repr(options), f"{[options]}"):
        assert PLANTED not in printed
    assert secret.reveal() == PLANTED


def test_secret_does_not_end_up_in_a_document() -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        msgspec.json.encode(ConnectionOptions(password=Secret(PLANTED)))


def test_secrets_are_compared_by_value() -> None:
    assert Secret("a") == Secret("a") == copy.deepcopy(Secret("a"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
