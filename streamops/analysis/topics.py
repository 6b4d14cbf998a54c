"""Topics judged whole: what makes no sense in them, their retry conditions included."""

from typing import Final

from streamops.errors import SettingsError
from streamops.model.topics import Topic, TopicProblem, topic_problems

ANSWER_ROOTS: Final = ("status", "headers", "body")
"""What a retry condition sees."""


def check_topic(topic: Topic) -> tuple[TopicProblem, ...]:
    """Everything that is wrong with a topic; empty for nothing."""
    found = topic_problems(topic)
    problem = retry_when_problem(topic.retry_when)
    return (*found, TopicProblem("retry_when", problem)) if problem else found


def require_topic(topic: Topic) -> None:
    """Insist that a topic makes sense; raises ``SettingsError`` that tells all that is wrong with it."""
    problems = check_topic(topic)
    if problems:
        text = "; ".join(f"{problem.field}: {problem.text}" for problem in problems)
        raise SettingsError(
            f"topic {topic.name!r}: {text}", "`streamops topics add --help` tells what each field takes."
        )


def retry_when_problem(text: str) -> str:
    """What is wrong with a retry condition; empty for nothing, and for none."""
    if not text:
        return ""
    # JMESPath is imported where somebody uses it.
    from streamops.analysis.expressions import Expression  # noqa: PLC0415

    try:
        Expression(text, ANSWER_ROOTS)
    except SettingsError as error:
        return f"{error.message}. {error.hint}".rstrip()
    return ""
