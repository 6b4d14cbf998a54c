"""Shared by the tests of topics."""

from tests.support.settings.place import PLANTED

TOPIC = f'[[topics]]\nname = "remind"\nurl = "https://hooks.example.net/?token={PLANTED}"\n'
