"""The page on the console names each key as the console has it, and says of it what the console says."""

import re
from typing import Final

from docs.reference import ROOT_DIRECTORY
from streamops.model.acting import Environment, Impact, Plan
from streamops.operations.confirmation import ConfirmationKind, required_confirmation
from streamops.resources.actions import FIXED, KEYS, key_names, shown_keys
from streamops.tui.app import SMALLEST
from streamops.tui.rows.selection import VERBS, Verb
from tests.support.tables import table

PAGE: Final = (ROOT_DIRECTORY / "docs" / "console.md").read_text()
PROSE: Final = PAGE.partition("## Keys by name")[0]
NAMED: Final = re.compile(r"^\| `([\w.]+)` \| `([^`]+)` \| (.+) \|$", re.MULTILINE)
SAID: Final = {name: words for name, _, words in NAMED.findall(PAGE)}
SCREEN: Final = re.compile(r"^\| `(\d)` \| (.+) \|$", re.MULTILINE)
PRESSED: Final = re.compile(r"(?<!`)`([!-_a-~]|Enter|Esc|Space|Tab|Ctrl-\w)`")
CALLED: Final = {"Esc": "escape"}
AGREED: Final = re.compile(r"^ +\| ([a-z].+) \| (.+) \| (.+) \|$", re.MULTILINE)
ANSWERS: Final = {
    (ConfirmationKind.ENTER, ""): "`Enter`",
    (ConfirmationKind.TAB, ""): "`Tab`, then `Enter`",
    (ConfirmationKind.TYPED, "3"): "type its count",
    (ConfirmationKind.TYPED, "yes"): "type `yes`",
    (ConfirmationKind.TYPED, "orders"): "type the target's name",
}


def test_every_key_is_listed_by_its_name() -> None:
    assert {name: keys for name, keys, _ in NAMED.findall(PAGE)} == {
        name: shown_keys(name, {}) for name in KEYS
    }


def test_every_key_does_what_the_console_says_of_it() -> None:
    assert {name: action.help for name, action in KEYS.items()} == SAID


@table("verb", VERBS)
def test_a_capital_opens_the_plans_that_the_console_has_for_it(verb: Verb) -> None:
    assert verb.word in SAID[f"plan.{verb.key}"]


def test_digits_open_the_screens_that_the_console_binds_them_to() -> None:
    bound = {action.keys.split(",")[0]: action.word for action in KEYS.values()}
    screens = dict(SCREEN.findall(PROSE))
    assert sorted(screens) == list("12345678")
    for digit, words in screens.items():
        assert all(word in words for word in bound[digit].split(", ")), digit


def test_every_key_of_a_sentence_is_one_of_the_console() -> None:
    known = {key for name in KEYS for key in key_names(KEYS[name].keys)} | FIXED
    spoken = (CALLED.get(key, key if len(key) == 1 else key.lower()) for key in PRESSED.findall(PAGE))
    pressed = {name for key in spoken for name in key_names(key.replace("ctrl-", "ctrl+"))}
    assert len(pressed) > 50
    assert pressed - known == set()


def test_the_page_names_the_smallest_terminal() -> None:
    assert f"a terminal of {SMALLEST.width} by {SMALLEST.height}" in PROSE


def test_agreement_takes_what_the_policy_asks_for() -> None:
    wanted = [
        [answer(impact, where) for where in (Environment.DEVELOPMENT, Environment.PRODUCTION)]
        for impact in (Impact.REVERSIBLE, Impact.REDELIVERS, Impact.DESTRUCTIVE)
    ]
    assert [answers for _, *answers in AGREED.findall(PROSE)] == wanted


def answer(impact: Impact, where: Environment) -> str:
    """What a plan of that impact is answered with, if it can be undone and if not."""
    answers = []
    for undo in ("`streamops undo` does.", ""):
        plan = Plan(operation="trim", target="orders", impact=impact, count=3, confirm="orders", undo=undo)
        policy = required_confirmation(plan, where)
        answers.append(ANSWERS[policy.kind, policy.word])
    undoable, final = answers
    return undoable if undoable == final else f"{undoable}; if nothing undoes it, {final}"
