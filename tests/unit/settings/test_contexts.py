import json
import stat
from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.model.acting import Environment
from streamops.settings.load import ContextSummary, Flags, list_contexts, use_context
from tests.support.settings.place import PLANTED, Place


def use(place: Place, name: str, **variables: str) -> tuple[str, ...]:
    return use_context(name, place.environ(**variables), place.cwd)


def listed(place: Place, flags: Flags | None = None, **variables: str) -> tuple[ContextSummary, ...]:
    return list_contexts(flags or Flags(), place.environ(**variables), place.cwd)


def state_file(place: Place) -> Path:
    return place.home / ".local" / "state" / "streamops" / "contexts.json"


def test_a_choice_is_kept_in_a_private_file_of_its_own(place: Place) -> None:
    text = "default_context = 'a'\n[contexts.a]\nhost = 'a'\n[contexts.b]\nhost = 'b'\n"
    place.write_user(text)
    assert use(place, "b") == ()
    settings = place.load()
    assert (settings.context, settings.origins["context"]) == ("b", "ctx use")
    assert place.user_file.read_text() == text
    assert stat.S_IMODE(state_file(place).stat().st_mode) == 0o600
    assert stat.S_IMODE(state_file(place).parent.stat().st_mode) == 0o700
    assert [path.name for path in state_file(place).parent.iterdir()] == ["contexts.json"]


def test_xdg_state_home_moves_the_choices(place: Place) -> None:
    place.write_user("[contexts.b]\nhost = 'b'")
    moved = str(place.home / "moved")
    use(place, "b", XDG_STATE_HOME=moved)
    assert (place.home / "moved" / "streamops" / "contexts.json").exists()
    assert place.load(XDG_STATE_HOME=moved).context == "b"
    assert place.load().context is None


def test_a_choice_made_in_a_project_is_for_the_project(place: Place) -> None:
    place.write_user("default_context = 'u'\n[contexts.u]\nhost = 'u'")
    place.write_trusted("default_context = 'p'\n[contexts.p]\nhost = 'p'\n[contexts.q]\nhost = 'q'")
    use(place, "q")
    assert place.load().context == "q"
    place.project_file.unlink()
    assert place.load().context == "u"


def test_flags_and_variables_win_over_a_choice(place: Place) -> None:
    place.write_user("[contexts.a]\nhost = 'a'\n[contexts.b]\nhost = 'b'")
    use(place, "b")
    assert place.load(Flags(context="a")).context == "a"
    assert place.load(Flags(url="redis://h")).context is None
    assert place.load(STREAMOPS_CONTEXT="a").context == "a"
    assert use(place, "b", STREAMOPS_CONTEXT="a") == ("STREAMOPS_CONTEXT is set and wins over this choice",)


def test_what_does_not_exist_cannot_be_chosen(place: Place) -> None:
    with pytest.raises(SettingsError, match="ctx use: no context named 'a'"):
        use(place, "a")
    assert not state_file(place).exists()


def test_a_choice_that_is_gone_is_an_error_and_the_list_still_comes_up(place: Place) -> None:
    place.write_user("[contexts.a]\nhost = 'a'\n[contexts.b]\nhost = 'b'")
    use(place, "b")
    place.write_user("[contexts.a]\nhost = 'a'")
    with pytest.raises(SettingsError, match="ctx use: no context named 'b'"):
        place.load()
    assert [(context.name, context.current) for context in listed(place)] == [("a", False)]
    use(place, "a")
    assert place.load().context == "a"


def test_choices_of_files_that_are_gone_are_forgotten(place: Place) -> None:
    place.write_user("[contexts.a]\nhost = 'a'")
    place.write_project("")
    use(place, "a")
    place.project_file.unlink()
    use(place, "a")
    assert json.loads(state_file(place).read_text()) == {str(place.user_file): "a"}


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 3}', b"\xff"])
def test_a_damaged_file_of_choices_says_what_to_do(place: Place, content: bytes) -> None:
    place.write_user("[contexts.a]\nhost = 'a'")
    use(place, "a")
    state_file(place).write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        place.load()
    assert caught.value.message == f"{state_file(place)}: damaged"
    assert caught.value.hint == "Delete it; it only holds what `ctx use` chose."


def test_a_file_of_choices_that_cannot_be_read(place: Place) -> None:
    place.write_user("[contexts.a]\nhost = 'a'")
    state_file(place).mkdir(parents=True)
    with pytest.raises(SettingsError) as caught:
        place.load()
    assert caught.value.message == f"{state_file(place)}: cannot be read: Is a directory"


def test_without_a_place_to_keep_it_a_choice_is_refused(place: Place) -> None:
    named = str(place.write_project("[contexts.a]\nhost = 'a'"))
    with pytest.raises(SettingsError) as caught:
        use(place, "a", HOME="", STREAMOPS_CONFIG=named)
    assert caught.value.message == "no place to keep what `ctx use` chose"
    assert place.load(HOME="", STREAMOPS_CONFIG=named).context is None
    with pytest.raises(SettingsError, match="Not a directory"):
        use(place, "a", XDG_STATE_HOME=named, STREAMOPS_CONFIG=named)


def test_contexts_are_listed_without_reading_a_password(place: Place) -> None:
    marker = place.home / "ran"
    place.write_user(
        f"""
        default_context = "b"
        [contexts.b]
        url = "rediss://:{PLANTED}@h/2"
        read_only = true
        [contexts.a]
        host = "a"
        environment = "development"
        password_command = "touch {marker}"
        [contexts.c]
        url = "redis://:{PLANTED}@h:x"
        """
    )
    file = str(place.user_file)
    contexts = listed(place)
    assert contexts == (
        ContextSummary(
            "a", "redis://a:6379/0", Environment.DEVELOPMENT, read_only=False, file=file, current=False
        ),
        ContextSummary(
            "b", "rediss://h:6379/2", Environment.PRODUCTION, read_only=True, file=file, current=True
        ),
        ContextSummary(
            "c",
            "",
            Environment.PRODUCTION,
            read_only=False,
            file=file,
            current=False,
            problem="url: the URL has a bad port after the host: not a number from 1 to 65535",
        ),
    )
    assert not marker.exists()
    assert PLANTED not in repr(contexts)
    assert [context.name for context in listed(place, Flags(context="a")) if context.current] == ["a"]
    assert not any(context.current for context in listed(place, STREAMOPS_URL="redis://h"))
