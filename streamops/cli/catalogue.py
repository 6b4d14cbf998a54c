"""Every command of the command line by name. Listing them imports none of them."""

from typing import Final

from streamops.cli.command import Family, Lazy

_AT: Final = "streamops.cli.commands"

COMMANDS: Final[dict[str, Lazy | Family]] = {
    "status": Lazy(f"{_AT}.status:status", "Show streams and groups: lag, pending, oldest, health."),
    "check": Lazy(f"{_AT}.check:check", "Answer for cron, Kubernetes or Nagios: within limits or not."),
    "streams": Family(
        "streams",
        "List, inspect, follow and search streams.",
        {
            "ls": Lazy(f"{_AT}.streams:ls", "List streams."),
            "info": Lazy(f"{_AT}.streams:info", "Show one stream and its groups."),
            "tail": Lazy(f"{_AT}.tail:tail", "Follow entries as they are added."),
            "search": Lazy(f"{_AT}.search:search", "Find entries by time, ID, field or expression."),
        },
    ),
    "groups": Family(
        "groups",
        "List and inspect consumer groups.",
        {
            "ls": Lazy(f"{_AT}.groups:ls", "List consumer groups."),
            "info": Lazy(f"{_AT}.groups:info", "Show one group, its consumers and its pending entries."),
        },
    ),
    "consumers": Family(
        "consumers",
        "List consumers.",
        {"ls": Lazy(f"{_AT}.consumers:ls", "List the consumers of a stream's groups.")},
    ),
    "pending": Family(
        "pending",
        "List entries delivered and not acknowledged.",
        {
            "ls": Lazy(f"{_AT}.pending:ls", "List pending entries, oldest first."),
            "summary": Lazy(
                f"{_AT}.pending:summary", "Sum up pending entries by consumer, idle time and deliveries."
            ),
        },
    ),
    "ctx": Family(
        "ctx",
        "List, show and choose contexts: places to connect to.",
        {
            "ls": Lazy(f"{_AT}.contexts:ls", "List the contexts of the configuration."),
            "show": Lazy(f"{_AT}.contexts:show", "Show the context in use."),
            "use": Lazy(f"{_AT}.contexts:use", "Choose the context to use from now on."),
        },
    ),
    "config": Family(
        "config",
        "Show and check the configuration.",
        {
            "show": Lazy(f"{_AT}.config:show", "Show every effective setting and where it comes from."),
            "validate": Lazy(f"{_AT}.config:validate", "Check configuration files and list every problem."),
            "example": Lazy(f"{_AT}.config:example", "Print a commented configuration file to start from."),
        },
    ),
    "doctor": Lazy(
        f"{_AT}.doctor:doctor", "Check the connection, the server, permissions and this installation."
    ),
    "completion": Lazy(f"{_AT}.completion:completion", "Print the completion script of a shell."),
}
