"""Every command of the command line by name. Listing them imports none."""

from typing import Final

from streamops.cli.command import Acts, CommandGroup, Lazy, Member
from streamops.operations.registry import command_words

_AT: Final = "streamops.cli.commands"


def _acts(*operations: str, target: str = "") -> dict[str, Acts]:
    """Commands of operations, by the last of the words that are typed for them."""
    return {command_words(name).rpartition(" ")[2]: Acts(name, target) for name in operations}


SECTIONS: Final[dict[str, dict[str, Member]]] = {
    "Look": {
        "status": Lazy(f"{_AT}.status:status", "Show streams and groups: lag, pending, oldest, health."),
        "alerts": CommandGroup(
            "alerts",
            "List findings of the health rules.",
            {"ls": Lazy(f"{_AT}.alerts:ls", "List findings of the health rules.")},
        ),
        "check": Lazy(
            f"{_AT}.check:check", "Check limits: an exit code for cron, Kubernetes probes or Nagios."
        ),
        "streams": CommandGroup(
            "streams",
            "List, show, follow and search streams.",
            {
                "ls": Lazy(f"{_AT}.streams:ls", "List streams."),
                "show": Lazy(f"{_AT}.streams:show", "Show one stream and its groups."),
                "tail": Lazy(f"{_AT}.tail:tail", "Follow entries as they are added."),
                "search": Lazy(f"{_AT}.search:search", "Find entries by time, ID, field or expression."),
                **_acts("streams.reclaim"),
            },
        ),
        "groups": CommandGroup(
            "groups",
            "List, show, create, rewind and remove consumer groups.",
            {
                "ls": Lazy(f"{_AT}.groups:ls", "List consumer groups."),
                "show": Lazy(f"{_AT}.groups:show", "Show one group, its consumers and its pending entries."),
                **_acts("groups.create", "groups.rewind", "groups.destroy"),
            },
        ),
        "consumers": CommandGroup(
            "consumers",
            "List, show and remove consumers.",
            {
                "ls": Lazy(f"{_AT}.consumers:ls", "List the consumers of a stream's groups."),
                "show": Lazy(f"{_AT}.consumers:show", "Show one consumer."),
                **_acts("consumers.rm", "consumers.prune"),
            },
        ),
        "pending": CommandGroup(
            "pending",
            "List entries delivered and not acknowledged.",
            {
                "ls": Lazy(f"{_AT}.pending:ls", "List pending entries, oldest first."),
                "summary": Lazy(
                    f"{_AT}.pending:summary", "Sum up pending entries by consumer, idle time and deliveries."
                ),
            },
        ),
        "entries": CommandGroup(
            "entries",
            "Trace and delete entries.",
            {
                "trace": Lazy(f"{_AT}.entries:trace", "Trace an entry's history."),
                **_acts("streams.rm-entry"),
            },
        ),
        "dlq": CommandGroup(
            "dlq",
            "List, show, export, add and purge dead letters.",
            {
                "ls": Lazy(f"{_AT}.dlq:ls", "List dead-letter queues, or the dead letters of one."),
                "show": Lazy(f"{_AT}.dlq:show", "Show one queue, or one dead letter."),
                "export": Lazy(f"{_AT}.dlq:export", "Write dead letters to a file."),
                **_acts("dlq.add", "dlq.purge"),
            },
        ),
        "delayed": CommandGroup(
            "delayed",
            "List, show, move and remove delayed messages.",
            {
                "ls": Lazy(f"{_AT}.delayed:ls", "List queues of delayed messages, or the messages of one."),
                "show": Lazy(f"{_AT}.delayed:show", "Show one delayed message."),
                **_acts("delayed.cancel", "delayed.run-now"),
            },
        ),
        "pools": CommandGroup(
            "pools",
            "List, show, scale, pause, resume and remove pools of workers.",
            {
                "ls": Lazy(f"{_AT}.pools:ls", "List pools of workers."),
                "show": Lazy(f"{_AT}.pools:show", "Show a pool's worker count."),
                "explain": Lazy(f"{_AT}.pools:explain", "Explain a pool's worker count."),
                **_acts("scale.set", "pause", "resume", "autoscale.override", "autoscale.limits", "pools.rm"),
                "simulate": Lazy(
                    f"{_AT}.simulate:simulate",
                    "Simulate the policy and fixed worker counts on your own load.",
                ),
            },
        ),
        "workers": CommandGroup(
            "workers",
            "List and show worker processes.",
            {
                "ls": Lazy(f"{_AT}.workers:ls", "List worker processes."),
                "show": Lazy(f"{_AT}.workers:show", "Show one worker process."),
            },
        ),
        "webhooks": CommandGroup(
            "webhooks",
            "Send messages to webhooks (HTTP): list, create, pause, remove and serve topics.",
            {
                "ls": Lazy(f"{_AT}.topics:ls", "List topics and their waiting messages."),
                "show": Lazy(f"{_AT}.topics:show", "Show one topic."),
                **_acts("topics.add", "topics.off", "topics.on", "topics.rm", "topics.recover"),
                "serve": Lazy(
                    f"{_AT}.topics_serve:serve",
                    "Serve topics: send messages to their URLs, accept messages over HTTP.",
                ),
            },
        ),
        "jobs": CommandGroup(
            "jobs",
            "List, show, resume and cancel long operations.",
            {
                "ls": Lazy(f"{_AT}.jobs:ls", "List long operations, newest first."),
                "show": Lazy(f"{_AT}.jobs:show", "Show one job."),
                "resume": Lazy(f"{_AT}.jobs:resume", "Resume an interrupted job."),
                **_acts("jobs.cancel"),
            },
        ),
        "audit": CommandGroup(
            "audit",
            "Read the audit log.",
            {
                "ls": Lazy(f"{_AT}.audit:ls", "List who did what, when and why, newest first."),
                "show": Lazy(f"{_AT}.audit:show", "Show one action in full."),
            },
        ),
    },
    "Act": {
        **_acts("claim", "ack", "nack"),
        **_acts("trim", target=f"{_AT}.trim:trim"),
        **_acts("replay", target=f"{_AT}.replay:replay"),
        **_acts("publish", "restore", "undo"),
    },
    "Run": {
        "run": Lazy(f"{_AT}.run:run", "Run an application's workers."),
        "autoscale": CommandGroup(
            "autoscale",
            "Scale pools automatically by their lag.",
            {
                "run": Lazy("streamops.main.autoscaler:run", "Scale pools automatically by their lag."),
                "keda": Lazy(
                    "streamops.main.keda:keda", "Serve worker counts to KEDA, as an external scaler."
                ),
                **_acts("autoscale.pause", "autoscale.resume"),
            },
        ),
        "exporter": Lazy("streamops.main.exporter:exporter", "Serve metrics to Prometheus."),
        "tui": Lazy("streamops.main.faces:tui", "Open the console in the terminal."),
        "demo": Lazy(
            "streamops.main.faces:demo", "Try the console on a live sample workload; needs no Redis."
        ),
        "drill": Lazy(
            "streamops.main.drill:drill", "Run an overload drill: a burst, killed workers, failing events."
        ),
    },
    "Set up": {
        "ctx": CommandGroup(
            "ctx",
            "List, show and choose contexts: named connections.",
            {
                "ls": Lazy(f"{_AT}.contexts:ls", "List the contexts of the configuration."),
                "show": Lazy(f"{_AT}.contexts:show", "Show the context in use."),
                "use": Lazy(f"{_AT}.contexts:use", "Choose the context to use from now on."),
            },
        ),
        "config": CommandGroup(
            "config",
            "Show and check the configuration.",
            {
                "show": Lazy(f"{_AT}.config:show", "Show every effective setting and where it comes from."),
                "validate": Lazy(
                    f"{_AT}.config:validate", "Check configuration files and list every problem."
                ),
                "trust": Lazy(
                    f"{_AT}.config:trust",
                    "Trust a project's streamops.toml.",
                ),
                "example": Lazy(
                    f"{_AT}.config:example", "Print a commented configuration file to start from."
                ),
            },
        ),
        "doctor": Lazy(
            f"{_AT}.doctor:doctor", "Check the connection, the server, permissions and this installation."
        ),
        "completion": Lazy(f"{_AT}.about:completion", "Print the completion script of a shell."),
        "options": Lazy(f"{_AT}.about:options", "Print the global options and exit codes."),
        "version": Lazy(f"{_AT}.about:version", "Print the version."),
        "help": Lazy(f"{_AT}.about:help_of", "Print the help of a command."),
    },
}
"""The commands by what they are for, each in the order in which one needs them."""

COMMANDS: Final = {name: member for members in SECTIONS.values() for name, member in members.items()}
SINGULARS: Final = {
    "alert": "alerts",
    "stream": "streams",
    "group": "groups",
    "consumer": "consumers",
    "entry": "entries",
    "pool": "pools",
    "worker": "workers",
    "job": "jobs",
    "webhook": "webhooks",
}
"""Names that are typed for families too."""
