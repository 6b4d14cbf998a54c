import re

from streamops.monitor.rules import RULES
from streamops.resources.actions import KEYS, Where, key_names
from streamops.tui.keys import first_key


def test_s_searches_on_every_screen_and_does_nothing_else() -> None:
    assert [name for name, key in KEYS.items() if "s" in key_names(key.keys)] == ["search"]
    assert KEYS["search"].where == Where.EVERYWHERE


KEY_OF = {"workers": "workers", "audit log": "audit", "streams": "streams", "pending entries": "pending"}
"""What a rule tells one to look at, and the action whose key leads there."""


def test_the_keys_that_rules_name_are_those_of_what_they_lead_to() -> None:
    texts = [text for rule in RULES for text in (*rule.look, *(remedy.words for remedy in rule.fixes))]
    named = [
        (subject, key)
        for text in texts
        for subject in KEY_OF
        for key in re.findall(rf"{subject}[^()]*\((\w|@)\b", text)
    ]
    assert len(named) >= 5
    assert [(subject, key) for subject, key in named if key != first_key(KEY_OF[subject], {})] == []
