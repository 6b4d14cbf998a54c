"""Asking for consent on a terminal."""

import sys

from streamops.cli.session import Session
from streamops.cli.terminal import drawable
from streamops.model.acting import Confirmation
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy
from streamops.resources.text import safe

YES = frozenset({"y", "yes"})


def can_ask(session: Session) -> bool:
    """Whether somebody is there to answer: stdin and stderr are terminals, and --no-input is not given."""
    return not session.given.no_input and sys.stdin.isatty() and sys.stderr.isatty()


def ask(policy: ConfirmationPolicy) -> Confirmation:
    """Ask, and say what was answered; nothing at all is no."""
    if policy.kind is not ConfirmationKind.TYPED:
        return Confirmation(yes=_answer("Apply? [y/N] ").lower() in YES)
    word = safe(policy.word)
    answer = _answer(f"Type {word} to apply: ")
    # What a keyboard does not have is typed as it is shown.
    return Confirmation(typed=policy.word if answer in {word, policy.word} else answer)


def _answer(question: str) -> str:
    sys.stderr.write(drawable(question, sys.stderr))
    sys.stderr.flush()
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise
    if not line.endswith("\n"):
        sys.stderr.write("\n")
    return line.strip()
