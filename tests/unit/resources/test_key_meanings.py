from streamops.resources.actions import KEYS, Where, key_names


def test_s_searches_on_every_screen_and_does_nothing_else() -> None:
    assert [name for name, key in KEYS.items() if "s" in key_names(key.keys)] == ["search"]
    assert KEYS["search"].where == Where.EVERYWHERE
