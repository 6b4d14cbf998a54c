"""Topics in a file of settings."""

from tests.support.settings.place import PLANTED

TOPIC = f'[[topics]]\nname = "remind"\nurl = "https://hooks.example.net/?token={PLANTED}"\n'
