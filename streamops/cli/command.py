"""Commands and families of commands: lazily imported, with the global options, examples and exit codes."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import click

from streamops.cli.global_options import GLOBAL_OPTIONS
from streamops.model.removed import renamed_command

if TYPE_CHECKING:
    from streamops.model.acting import OperationIntent

EXITS: Final = {
    0: "done",
    1: "failed",
    2: "usage or configuration",
    3: "cannot connect",
    4: "refused",
    130: "interrupted",
}


class WithGlobals(click.Command):
    """A command that takes the global options too; `streamops options` lists these."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The same for every command, whichever context asks first: click keeps the answer."""
        return ["-h", "--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's parameters and the global ones."""
        return [*super().get_params(ctx), *GLOBAL_OPTIONS]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options."""
        own = [param for param in super().get_params(ctx) if "--help" not in param.opts]
        write_options(formatter, "Options", own, ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the global options stand."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("Global options, before or after any command: streamops options")


class Command(WithGlobals):
    """One command.

    Attributes:
        examples: Command lines and what each does.
        exits: Its exit codes and their meaning.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[tuple[str, str]] = (),
        exits: Mapping[int, str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.examples = tuple(examples)
        self.exits = dict(sorted((EXITS | dict(exits or {})).items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit codes that are not those of every command."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl(list(self.examples))
        own = {code: meaning for code, meaning in self.exits.items() if EXITS.get(code) != meaning}
        if own:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), meaning) for code, meaning in own.items()])
        super().format_epilog(ctx, formatter)


class Loaded(Protocol):
    """A command that is imported when it is called."""

    @property
    def summary(self) -> str:
        """Its one line in its family's help."""

    def load(self) -> click.Command:
        """Import it."""


class Lazy(NamedTuple):
    """A command that is imported when it is called.

    Attributes:
        target: ``module:attribute``.
        summary: Its one line in its family's help.
    """

    target: str
    summary: str

    def load(self) -> click.Command:
        """Import it."""
        module, attribute = self.target.split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


_ACTING: Final = "streamops.cli.acting.command"


class Acts(NamedTuple):
    """The command of an operation in the catalogue; what it says comes from its intent.

    Attributes:
        operation: The operation's name.
        target: ``module:attribute`` of a command with more than its intent asks for; empty for none.
    """

    operation: str
    target: str = ""

    @property
    def summary(self) -> str:
        """Its one line in its family's help."""
        from streamops.operations.registry import LISTED  # noqa: PLC0415 - only lists need it

        return LISTED[self.operation].summary

    def load(self) -> click.Command:
        """Import what it is made of."""
        if self.target:
            return Lazy(self.target, "").load()
        made: click.Command = import_module(_ACTING).acting_command(self._intent())
        return made

    def _intent(self) -> "type[OperationIntent]":
        # Only who asks for it pays for msgspec.
        from streamops.operations.registry import intent_of  # noqa: PLC0415

        return intent_of(self.operation)


class RenamedCommandError(click.UsageError):
    """A command is called by the name that it had before.

    Attributes:
        hint: What to run.
    """

    def __init__(self, old: str, new: str, ctx: click.Context) -> None:
        super().__init__(f"{old} was renamed to {new}", ctx)
        is_family = " " not in new
        self.hint = (
            f"See `streamops {new} --help`."
            if is_family
            else f"Run `streamops {new}`, with the same arguments."
        )


class CommandGroup(WithGlobals, click.Group):
    """Commands under one name; listing them imports none of them.

    Attributes:
        members: The commands and families, in the order of the help.
        summary: Its one line in its own family's help.
        sections: Headings of the help, each with the members below it; one heading for all unless given.
        aliases: Other names of members, which no list shows.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        members: "Mapping[str, Member]",
        params: list[click.Parameter] | None = None,
        *,
        sections: "Mapping[str, Mapping[str, Member]] | None" = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, help=summary, params=params, no_args_is_help=True)
        self.members = dict(members)
        self.summary = summary
        self.sections = sections or {"Commands": members}
        self.aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the help."""
        return list(self.members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Import and return a member; none where there is none of that name."""
        member = self.members.get(cmd_name)
        return member if member is None or isinstance(member, CommandGroup) else member.load()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the member that the arguments call; a wrong name fails with the closest right one."""
        name = self.aliases.get(args[0], args[0])
        if name not in self.members and not name.startswith("-") and not ctx.resilient_parsing:
            if renamed := renamed_command([*ctx.command_path.split()[1:], *args]):
                raise RenamedCommandError(*renamed, ctx)
            raise click.NoSuchCommand(name, possibilities=self.members, ctx=ctx)
        return super().resolve_command(ctx, [name, *args[1:]])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the family's options, then its members with their summaries."""
        super().format_options(ctx, formatter)
        width = max(map(len, self.members))
        for heading, members in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), member.summary) for name, member in members.items()])


Member = Loaded | CommandGroup
"""What a family holds."""


def write_options(
    formatter: click.HelpFormatter, title: str, params: Sequence[click.Parameter], ctx: click.Context
) -> None:
    """Write a section of the help: those parameters that are options."""
    options = [param for param in params if isinstance(param, click.Option)]
    records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
