"""The contexts there are, and choosing one, for ``ctx ls`` and ``ctx use``."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.acting import Environment
from streamops.settings.config import chosen_contexts, read_config
from streamops.settings.connections import check_context
from streamops.settings.load import Flags, choose_target


class ContextSummary(Struct, frozen=True):
    """One context as a list shows it.

    Attributes:
        name: Its name.
        label: The address in words, without secrets; empty where there is a problem.
        environment: How much care it deserves.
        read_only: Whether everything that changes anything is refused there.
        file: The configuration file it stands in.
        current: Whether a command would use it now.
        problem: What is wrong with it; empty for nothing.
    """

    name: str
    label: str
    environment: Environment
    read_only: bool
    file: str
    current: bool
    problem: str = ""


def list_contexts(flags: Flags, environ: Mapping[str, str], cwd: Path) -> tuple[ContextSummary, ...]:
    """Every context by name; no password is read and no program run.

    Raises:
        SettingsError: A configuration file has a problem beyond a single context's address.
    """
    config = read_config(environ, cwd)
    try:
        current = choose_target(flags, environ, config).context
    except SettingsError:
        # A list must come up even where what was chosen is gone: it is how to see what to choose instead.
        current = None
    summaries = []
    for name, context in sorted(config.contexts.items()):
        label, problem = "", ""
        try:
            label = check_context(context).label
        except SettingsError as error:
            problem = error.message
        summaries.append(
            ContextSummary(
                name=name,
                label=label,
                environment=context.table.environment,
                read_only=context.table.read_only,
                file=str(context.file),
                current=current is context,
                problem=problem,
            )
        )
    return tuple(summaries)


def use_context(name: str, environ: Mapping[str, str], cwd: Path) -> tuple[str, ...]:
    """Choose a context for the working directory's configuration, or the user's where there is none.

    Returns:
        What a face should say besides, a sentence each: a variable that wins over the choice.

    Raises:
        SettingsError: There is no such context, or the choice cannot be kept.
    """
    config = read_config(environ, cwd)
    config.find_context(name, "ctx use", environ)
    chosen_contexts(environ).write(str(config.files[0].path), name, lambda file: Path(file).exists())
    stronger = [variable for variable in ("STREAMOPS_URL", "STREAMOPS_CONTEXT") if environ.get(variable)]
    return tuple(f"{variable} is set and wins over this choice" for variable in stronger)
