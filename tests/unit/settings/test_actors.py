"""Who acts, and the options that reach the same server from another shell."""

import pytest

from streamops.settings.load import Flags, actor_of
from tests.support.settings.place import Place

CONFIG = """
default_context = "local"
[contexts.local]
url = "redis://localhost"
[contexts.prod]
url = "redis://ann:secret@prod:6380/2"
"""


@pytest.mark.parametrize(
    ("flags", "environ", "selector"),
    [
        (Flags(), {}, ()),
        (Flags(context="prod"), {}, ("-c", "prod")),
        (Flags(), {"STREAMOPS_CONTEXT": "prod"}, ("-c", "prod")),
        (Flags(url="redis://ann:secret@prod:6380/2"), {}, ("--url", "redis://prod:6380/2")),
        (Flags(), {"STREAMOPS_URL": "valkey://:secret@prod"}, ("--url", "valkey://prod:6379/0")),
    ],
)
def test_what_was_chosen_for_one_call_is_said(
    flags: Flags, environ: dict[str, str], selector: tuple[str, ...], place: Place
) -> None:
    place.write_user(CONFIG)
    assert actor_of(place.load(flags, **environ)).selector == selector
