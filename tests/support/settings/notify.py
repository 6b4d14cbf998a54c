"""Addresses in a file of settings."""

from streamops.exporter.outlets import NotifySettings, load_notify
from tests.support.settings.place import PLANTED, Place

LINES = (
    f"# who is told\n\njson://127.0.0.1/{PLANTED}\ncritical = slack://{PLANTED}/b/c\n  warn=mailto://x:y@z\n"
)


def load(place: Place) -> NotifySettings:
    return load_notify(place.load())
