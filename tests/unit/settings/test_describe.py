from datetime import timedelta

from streamops.settings.describe import describe_settings
from streamops.settings.load import Flags, Settings
from tests.support.settings.place import PLANTED, Place


def described(settings: Settings) -> dict[str, tuple[str, str]]:
    return {row.key: (row.value, row.origin) for row in describe_settings(settings)}


def test_each_value_names_where_it_comes_from(place: Place) -> None:
    place.write_password(name="sentinel")
    place.write_user(
        f"""
        [contexts.a]
        url = "rediss+sentinel://operator:{PLANTED}@s/orders?sni=inner&client_name=watch"
        sentinel_password_file = "~/sentinel"
        verify = false
        streams = ["a", "b:*"]
        dead_letters = {{ a = "a-failed" }}
        delayed = {{ a = "a-later" }}
        [health]
        time_lag = "90s"
        """
    )
    file = str(place.user_file)
    settings = place.load(
        Flags(context="a", timeout=timedelta(seconds=1)), NO_COLOR="1", STREAMOPS_READ_ONLY="1"
    )
    rows = described(settings)
    assert (
        rows
        | {
            "context": ("a", "--context"),
            "environment": ("production", "default"),
            "read_only": ("true", "STREAMOPS_READ_ONLY"),
            "url": ("rediss+sentinel://s:26379/orders/0", file),
            "username": ("operator", file),
            "password": ("***", file),
            "sentinel_username": ("", "default"),
            "sentinel_password": ("***", f"{file}, sentinel_password_file"),
            "ca": ("", "default"),
            "sni": ("inner", file),
            "verify": ("false", file),
            "timeout": ("1s", "--timeout"),
            "client_name": ("watch", file),
            "streams": ("a, b:*", file),
            "exclude": ("", "default"),
            "dead_letters": ("a -> a-failed", file),
            "delayed": ("a -> a-later", file),
            "max_streams": ("2000", "default"),
            "health.time_lag": ("1m30s", file),
            "health.oom_memory": ("0.9", "default"),
            "console.refresh": ("2s", "default"),
            "console.color": ("false", "NO_COLOR"),
        }
        == rows
    )
    assert PLANTED not in repr(rows)


def test_a_password_program_is_named_as_the_origin(place: Place) -> None:
    place.write_user("[contexts.a]\nhost = 'h'\npassword_command = 'echo pw'")
    rows = described(place.load(Flags(context="a")))
    assert rows["password"] == ("***", f"{place.user_file}, password_command")


def test_a_url_from_the_environment_is_the_origin_of_what_it_says(place: Place) -> None:
    rows = described(place.load(STREAMOPS_URL=f"redis://u:{PLANTED}@h?timeout=9"))
    assert rows["url"] == ("redis://h:6379/0", "STREAMOPS_URL")
    assert rows["username"] == ("u", "STREAMOPS_URL")
    assert rows["password"] == ("***", "STREAMOPS_URL")
    assert rows["timeout"] == ("9s", "STREAMOPS_URL")
    assert rows["client_name"] == ("streamops", "default")
