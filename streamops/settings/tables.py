"""The tables of a configuration file: those that have no other home, and the list of all."""

import re
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import SettingsError
from streamops.model.acting import Environment
from streamops.model.authority import delayed_problem
from streamops.model.config_keys import Holds, setting
from streamops.model.name_patterns import name_pattern
from streamops.model.retention import RetentionPolicy
from streamops.model.schedules import MINUTES_2N_1, parse_schedule
from streamops.model.secret import Secret
from streamops.model.topics import (
    DEFAULT_CONTENT_TYPE,
    DEFAULT_GROUP,
    HERE,
    Topic,
    parse_priority,
    retry_when_problem,
    topic_problems,
    url_problem,
)
from streamops.monitor.thresholds import Thresholds
from streamops.resources.actions import keymap_problems
from streamops.resources.views import SavedView
from streamops.settings.secrets import split_command
from streamops.targets.specs import COMMAND_TIMEOUT, DEFAULT_TIMEOUT, TargetKind
from streamops.webhooks.reach import Reach

Command = str | tuple[str, ...]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Database = Annotated[int, Meta(ge=0, le=2**31 - 1)]

DEFAULT_LISTEN: Final = "127.0.0.1:9641"
SHORTEST_EVERY: Final = timedelta(seconds=1)
"""A page is not made anew within a second."""
LONGEST_TIMEOUT: Final = timedelta(minutes=10)

_file: Final = partial(setting, holds=Holds.FILE)
_secret_file: Final = partial(setting, holds=Holds.SECRET_FILE)
_program: Final = partial(setting, holds=Holds.PROGRAM)
_shown: Final = partial(setting, project=True)

_SCALING: Final = ScalingConfig()
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_DNS_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_API_VERSION: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30}")


class SettingsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table whose keys may not go together, which it says in a ``ValueError``; msgspec makes that its own error."""

    def __post_init__(self) -> None:
        if found := list(self._problems()):
            raise ValueError("; ".join(found))

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        yield from ()

    def _both(self, *pairs: tuple[str, str]) -> Iterator[str]:
        """Pairs of keys that exclude each other, and are both stated."""
        for one, other in pairs:
            if getattr(self, one) is not None and getattr(self, other) is not None:
                yield f"says both {one} and {other}"


class ContextTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[contexts.NAME]``: one place to connect to, and how to behave there."""

    url: Annotated[
        Secret | None,
        setting(
            "URL of the server; redis+sentinel://S1:26379,S2:26379/NAME/0 and redis+cluster://N1:6379,N2:6379 too",
            "rediss://orders.example.net:6380/0",
        ),
    ] = None
    host: Annotated[
        str | None, setting("host name or address, instead of url", "10.0.0.5", alternative=True)
    ] = None
    port: Annotated[Port | None, setting("port of host; default: 6379", 6379, alternative=True)] = None
    socket: Annotated[
        str | None,
        _file("path of a Unix socket, instead of url and host", "/run/redis.sock", alternative=True),
    ] = None
    database: Annotated[
        Database | None, setting("database number, with host or socket", 0, alternative=True)
    ] = None
    tls: Annotated[bool | None, setting("whether to use TLS, with host", example=False, alternative=True)] = (
        None
    )
    environment: Annotated[Environment, setting("production, staging or development")] = (
        Environment.PRODUCTION
    )
    read_only: Annotated[bool, setting("refuse every change")] = False
    username: Annotated[str | None, setting("ACL user", "operator")] = None
    password_file: Annotated[
        str | None, _secret_file("file with the password, on one line", "orders.password")
    ] = None
    password_command: Annotated[
        Command | None,
        _program(
            "program that prints the password; run without a shell, for at most 5 s",
            ("pass", "show", "redis"),
            alternative=True,
        ),
    ] = None
    sentinel_username: Annotated[
        str | None, setting("ACL user on the Sentinels", "watcher", alternative=True)
    ] = None
    sentinel_password_file: Annotated[
        str | None,
        _secret_file("file with the password of sentinel_username", "sentinel.password", alternative=True),
    ] = None
    sentinel_password_command: Annotated[
        Command | None,
        _program(
            "program that prints the password of sentinel_username",
            "pass show redis/sentinel",
            alternative=True,
        ),
    ] = None
    ca: Annotated[
        str | None, _file("CA certificates to trust (PEM); default: the system's", "orders-ca.pem")
    ] = None
    cert: Annotated[str | None, _file("client certificate (PEM)", "operator.pem")] = None
    key: Annotated[
        str | None, _secret_file("private key of the client certificate (PEM)", "operator.key")
    ] = None
    sni: Annotated[
        str | None,
        setting("name to check the server's certificate against; default: the host", "orders.internal"),
    ] = None
    verify: Annotated[bool | None, setting("false: do not check the server's certificate", example=True)] = (
        None
    )
    timeout: Annotated[
        timedelta | None, setting("longest wait for a connection or a reply", timedelta(seconds=2))
    ] = None
    streams: Annotated[
        tuple[str, ...], setting("patterns of streams to read; default: all", ("orders:*", "payments"))
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        setting("patterns of streams to skip; they take precedence over streams", ("*:scratch",)),
    ] = ()
    dead_letters: Annotated[
        dict[str, str],
        setting(
            "dead-letter queue by stream; default: a stream whose name ends in :dlq",
            {"payments": "payments-failed"},
        ),
    ] = {}
    delayed: Annotated[
        dict[str, str],
        setting(
            "delayed queue by stream: a sorted set, with its bodies in KEY:jobs; default: {STREAM}:delayed",
            {"payments": "payments-later"},
        ),
    ] = {}
    max_streams: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        setting(
            "maximum number of streams to read; the console, the exporter and commands say how many are left out",
            2000,
        ),
    ] = None

    def _problems(self) -> Iterator[str]:
        yield from self._both(
            *(("url", name) for name in ("host", "port", "socket", "database", "tls")),
            *(("socket", name) for name in ("host", "port", "tls")),
            ("password_file", "password_command"),
            ("sentinel_password_file", "sentinel_password_command"),
        )
        if self.url is None and self.host is None and self.socket is None:
            yield "says neither url nor host nor socket"
        if problem := delayed_problem(self.delayed):
            yield problem


class ConsoleOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[console]``: how the console in the terminal looks and behaves."""

    refresh: Annotated[timedelta, _shown("interval between readings")] = timedelta(seconds=2)
    theme: Annotated[
        Literal["dark", "light", "colour-blind", "terminal"] | None,
        _shown(
            "dark, light, colour-blind, or terminal: the terminal's 16 colours", "light", alternative=True
        ),
    ] = None
    mouse: Annotated[bool, _shown("false: the terminal handles the mouse, to select text")] = True
    color: Annotated[bool, _shown("use colours, on the command line too")] = True
    copy: Annotated[
        Literal["auto", "osc52", "tool", "file"],
        setting(
            "how to copy. osc52: the terminal copies; tool: wl-copy, xclip, xsel, pbcopy or clip.exe; file; auto: the first that works"
        ),
    ] = "auto"
    keymap: Annotated[
        dict[str, str],
        setting(
            "your own keys, by the names that `streamops tui --keys` prints",
            {"filter": "f3, /"},
            alternative=True,
        ),
    ] = {}

    def __post_init__(self) -> None:
        for problem in keymap_problems(self.keymap):
            raise ValueError(f"keymap: {problem}")


class ExporterTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[exporter]``: where `streamops exporter` serves metrics, and which."""

    listen: Annotated[str, setting("listen address, HOST:PORT")] = DEFAULT_LISTEN
    web_config: Annotated[
        str | None,
        _file(
            "TLS, client CA and passwords, in the format of Prometheus's exporter-toolkit",
            "web.yml",
            alternative=True,
        ),
    ] = None
    include: Annotated[
        tuple[str, ...], setting("regular expressions that match whole stream names; default: all streams")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], setting("regular expressions of streams to skip; they take precedence over include")
    ] = ()
    max_streams: Annotated[Count, setting("maximum number of streams, those with the greatest lag")] = 2_000
    max_consumers: Annotated[
        Count,
        setting(
            "maximum number of consumers per group: those with pending entries first, then those seen last"
        ),
    ] = 200
    granularity: Annotated[
        Literal["stream", "group", "consumer"], setting("finest level of metrics: consumer, group or stream")
    ] = "consumer"

    def _problems(self) -> Iterator[str]:
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                try:
                    name_pattern(pattern)
                except ValueError as error:
                    yield f"{name}: {pattern!r} is no regular expression: {error}"


class NotifyLevel(StrEnum):
    """From which level on notices are sent."""

    WARN = "warn"
    CRITICAL = "critical"


class NotifyTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[notify]``: notices of `streamops exporter --notify`, by mail, chat or webhook; needs streamops[notify]."""

    urls_file: Annotated[
        str | None,
        _secret_file(
            "file with apprise URLs, one a line; critical=URL gets critical notices only", "notify.urls"
        ),
    ] = None
    urls_command: Annotated[
        Command | None,
        _program("program that prints such lines", ("pass", "show", "streamops/notify"), alternative=True),
    ] = None
    level: Annotated[NotifyLevel, setting("minimum level: warn or critical")] = NotifyLevel.WARN
    fire_after: Annotated[timedelta, setting("how long a finding must last before its notice is sent")] = (
        timedelta(minutes=1)
    )
    resolve_after: Annotated[
        timedelta, setting("how long a finding must be gone before it is reported as resolved")
    ] = timedelta(minutes=2)
    repeat_after: Annotated[
        timedelta, setting("interval at which a notice is repeated while its finding persists")
    ] = timedelta(hours=4)
    pause: Annotated[
        timedelta,
        setting("minimum interval between two messages or attempts; notices in between are sent together"),
    ] = timedelta(minutes=1)
    contexts: Annotated[
        tuple[str, ...], setting("contexts to watch besides that of the exporter", ("stage", "eu"))
    ] = ()
    every: Annotated[timedelta, setting("interval between readings, independent of Prometheus's scrapes")] = (
        timedelta(seconds=15)
    )

    def _problems(self) -> Iterator[str]:
        yield from self._both(("urls_file", "urls_command"))
        if self.every < SHORTEST_EVERY:
            yield "says every shorter than a second"


class KubernetesTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME.kubernetes]``: an object with a scale subresource; needs streamops[kubernetes]."""

    name: Annotated[str, setting("name of the object", "billing-workers")]
    kind: Annotated[str, setting("Deployment, StatefulSet, ReplicaSet or a custom kind")] = "Deployment"
    api_version: Annotated[str, setting("API group and version of the kind")] = "apps/v1"
    plural: Annotated[
        str | None, setting("plural of the kind; default: the kind in lower case, with an s", "deployments")
    ] = None
    namespace: Annotated[
        str | None, setting("namespace; default: that of the kubeconfig's context, or of the pod", "shop")
    ] = None
    context: Annotated[
        str | None, setting("context of the kubeconfig; default: its current context", "production")
    ] = None
    kubeconfig: Annotated[
        str | None,
        _file(
            "path; default: the pod's service account, then KUBECONFIG, then ~/.kube/config", "~/.kube/config"
        ),
    ] = None
    timeout: Annotated[timedelta, setting("timeout of a request")] = DEFAULT_TIMEOUT

    def _problems(self) -> Iterator[str]:
        for name, pattern in (
            ("name", _DNS_NAME),
            ("kind", _KIND),
            ("api_version", _API_VERSION),
            ("plural", _LABEL),
            ("namespace", _LABEL),
        ):
            if (value := getattr(self, name)) is not None and not pattern.fullmatch(value):
                yield f"{name}: not as Kubernetes writes one"
        yield from _timeout_problems(self.timeout)


class CommandTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME.command]``: programs that count and set workers; run without a shell."""

    get: Annotated[
        Command,
        _program(
            'program that prints the worker count: 3, or {"ordered": 3, "ready": 2}', "count-workers mail"
        ),
    ]
    set: Annotated[
        Command,
        _program(
            "program that sets it to {desired}; {current}, {reason}, {pool} and {key} are replaced too; exit status 6: the count is no longer {current}",
            "set-workers mail {desired}",
        ),
    ]
    timeout: Annotated[timedelta, setting("timeout of either program")] = COMMAND_TIMEOUT
    env: Annotated[
        dict[str, str],
        setting("additional environment variables; never shown", {"ZONE": "eu"}, holds=Holds.SECRETS),
    ] = {}

    def _problems(self) -> Iterator[str]:
        for name in ("get", "set"):
            try:
                args = split_command(getattr(self, name))
            except SettingsError as error:
                yield f"{name}: {error.message}"
            else:
                if name == "set" and not any("{desired}" in arg for arg in args):
                    yield "set: says nowhere {desired}, the number to set"
        if any(not name or "=" in name or "\0" in name + value for name, value in self.env.items()):
            yield "env: holds what no environment can"
        yield from _timeout_problems(self.timeout)


class PoolTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME]``: workers of one group of one stream, how many there may be, and what runs them."""

    stream: Annotated[str, setting("the stream that its workers read", "orders")]
    group: Annotated[str, setting("their consumer group", "billing")]
    context: Annotated[
        str | None, setting("context of the stream; default: the context in use", "orders")
    ] = None
    minimum: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)], setting("minimum workers; 0: the pool may scale to zero")
    ] = _SCALING.minimum
    maximum: Annotated[Count, setting("maximum workers")] = _SCALING.maximum
    objective: Annotated[timedelta, setting("target lag age: the longest that an entry should wait")] = (
        _SCALING.objective
    )
    start_up: Annotated[
        timedelta, setting("time from starting a worker to its first entry, until it has been measured")
    ] = _SCALING.start_up
    idle_for: Annotated[
        timedelta, setting("with minimum 0: scale to zero after this long without added entries")
    ] = _SCALING.idle_for
    prefetch: Annotated[
        Count,
        setting("entries that keep one worker busy; more workers than backlog / prefetch are not started"),
    ] = _SCALING.prefetch
    by_arrivals: Annotated[bool, setting("while the lag is unknown, scale up by added entries alone")] = (
        _SCALING.by_arrivals
    )
    budget: Annotated[str | None, setting("budget that the pool shares with other pools", "shared")] = None
    weight: Annotated[
        Annotated[float, Meta(gt=0, le=1000)], setting("weight of the pool's lag age within the budget")
    ] = 1.0
    target: Annotated[
        TargetKind,
        setting(
            "what runs the workers: kubernetes, command, or local (`streamops run --workers auto`)",
            "kubernetes",
        ),
    ] = TargetKind.LOCAL
    kubernetes: Annotated[KubernetesTable | None, setting("the object whose replicas are the workers")] = None
    command: Annotated[
        CommandTable | None, setting("programs that count and set workers", alternative=True)
    ] = None

    def scaling(self) -> ScalingConfig:
        """Its limits and objective, as the policy takes them."""
        known = set(ScalingConfig.__struct_fields__)
        return ScalingConfig(**{name: value for name, value in asdict(self).items() if name in known})

    def _problems(self) -> Iterator[str]:
        try:
            self.scaling()
        except ValueError as error:
            yield str(error)
        told = f'says target = "{self.target}"'
        stated = [kind for kind in TargetKind if getattr(self, kind, None) is not None]
        if self.target is not TargetKind.LOCAL and self.target not in stated:
            yield f"{told} and has no table of that name"
        for kind in stated:
            if kind is not self.target:
                yield f"{told} and has a table {kind}"


class BudgetTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[budgets.NAME]``: what several pools share."""

    workers: Annotated[Count, setting("maximum workers of all its pools together", 40)]


class TopicTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[topics]]``: messages that are called back over HTTP; further ones may be kept in Redis, see `streamops webhooks`."""

    name: Annotated[str, setting("name of the topic", "remind")]
    url: Annotated[
        Secret, setting("the URL that its messages are sent to", "https://hooks.example.net/remind")
    ]
    context: Annotated[
        str | None, setting("context of its messages; default: the context in use", "orders")
    ] = None
    contexts: Annotated[
        tuple[str, ...],
        setting(
            "several contexts: messages are distributed over them by their IDs",
            ("eu", "us"),
            alternative=True,
        ),
    ] = ()
    method: Annotated[str, setting("HTTP method: POST, PUT or PATCH")] = "POST"
    delay: Annotated[
        timedelta | None,
        setting(
            "default delay of a message; default: none",
            timedelta(minutes=30),
        ),
    ] = None
    time_to_run: Annotated[timedelta, setting("timeout of one call")] = timedelta(seconds=30)
    content_type: Annotated[str, setting("default content type of a message")] = DEFAULT_CONTENT_TYPE
    headers: Annotated[
        dict[str, str],
        setting("headers of every call; never shown", {"X-Tenant": "shop"}, holds=Holds.SECRETS),
    ] = {}
    header_files: Annotated[
        dict[str, str],
        _secret_file("headers whose values are read from files", {"Authorization": "remind.authorization"}),
    ] = {}
    priority: Annotated[
        str | int, setting("high, normal and low share the calls 5:3:2; or a weight from 1 to 100")
    ] = "normal"
    retry: Annotated[
        str,
        setting(
            'delay after each failed call: "2n+1 m" (1, 3, 5 minutes), "1m, 5m, 1h", or "exponential 10s 1h jitter"'
        ),
    ] = MINUTES_2N_1.text
    max_attempts: Annotated[int, setting("attempts per message before it is dead-lettered")] = 10
    retry_when: Annotated[
        str | None,
        setting(
            "JMESPath over {status, headers, body}: if it is true, the call is repeated",
            "body.code != `200`",
        ),
    ] = None
    retry_empty: Annotated[bool, setting("treat an answer without a body as failed")] = True
    enabled: Annotated[bool, setting("false: its messages are not sent, and wait")] = True
    concurrency: Annotated[int, setting("concurrent calls in one worker")] = 16
    stream: Annotated[str | None, setting("stream of its messages; default: topic:NAME", "topic:remind")] = (
        None
    )
    group: Annotated[str, setting("consumer group that sends them")] = DEFAULT_GROUP
    secret_file: Annotated[
        str | None, _secret_file("file with the secret that calls are signed with", "remind.secret")
    ] = None
    secret_command: Annotated[
        Command | None,
        _program("program that prints the secret", ("pass", "show", "hooks/remind"), alternative=True),
    ] = None

    @property
    def named_contexts(self) -> tuple[str, ...]:
        """The contexts that its messages are in; ``HERE`` alone if it names none."""
        return self.contexts or (self.context or HERE,)

    @property
    def signed(self) -> bool:
        """Whether its calls are signed."""
        return self.secret_file is not None or self.secret_command is not None

    def topic(self, headers: dict[str, str] | None = None, secret: Secret | None = None) -> Topic:
        """The topic, with what was read from files and programs, where it was."""
        # Files are not read to check a table: their headers' names can be judged all the same.
        unread = {**self.headers, **dict.fromkeys(self.header_files, "")}
        same = {
            name: value
            for name in Topic.__struct_fields__
            if (value := getattr(self, name, None)) is not None and name not in ("headers", "url")
        }
        return Topic(
            **{
                **same,
                "url": self.url.reveal(),
                "headers": tuple((unread if headers is None else headers).items()),
                "weight": parse_priority(self.priority),
                "retry": parse_schedule(self.retry),
                "secret": secret,
            }
        )

    def _problems(self) -> Iterator[str]:
        yield from self._both(("secret_file", "secret_command"))
        if self.context is not None and self.contexts:
            yield "says both context and contexts"
        if len(set(self.contexts)) < len(self.contexts):
            yield "contexts: a name stands there twice"
        unread = []
        for name, parse in (("priority", parse_priority), ("retry", parse_schedule)):
            try:
                parse(getattr(self, name))
            except ValueError as error:
                unread.append(f"{name}: {error}")
        yield from unread or (f"{problem.field}: {problem.text}" for problem in topic_problems(self.topic()))
        if why := retry_when_problem(self.retry_when or ""):
            yield f"retry_when: {why}"


class CallbacksTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[callbacks]``: how topics' URLs are called."""

    hosts: Annotated[
        tuple[str, ...],
        setting(
            "names, patterns and networks that may be called; default: all but this machine",
            ("*.internal",),
            alternative=True,
        ),
    ] = ()
    deny_private: Annotated[
        bool, setting("refuse private networks too, unless hosts lists their addresses")
    ] = False
    per_host: Annotated[Count, setting("concurrent calls to one host")] = 64
    open_after: Annotated[
        Count, setting("consecutive failures of a host that open its circuit breaker ...")
    ] = 5
    pause: Annotated[timedelta, setting("... for this long at first, at most two minutes")] = timedelta(
        seconds=10
    )
    max_answer: Annotated[
        Annotated[int, Meta(ge=1024, le=1 << 30)], setting("maximum bytes of an answer to read")
    ] = 1 << 20
    given_up_url: Annotated[
        Secret | None,
        setting(
            "URL that a notice of each dead-lettered message is posted to",
            "https://hooks.example.net/given-up",
        ),
    ] = None
    given_up_per_minute: Annotated[
        Count, setting("maximum notices per minute; the next one counts those left out")
    ] = 10

    def _problems(self) -> Iterator[str]:
        try:
            Reach(self.hosts)
        except SettingsError as error:
            yield f"hosts: {error.message}. {error.hint}"
        if self.given_up_url is not None and (why := url_problem(self.given_up_url.reveal())):
            yield f"given_up_url: {why}"


class IngestTable(SettingsTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[intake]``: `streamops webhooks serve --listen` takes messages in over HTTP."""

    listen: Annotated[str, setting("listen address, HOST:PORT")] = "127.0.0.1:8787"
    token_file: Annotated[
        str | None, _secret_file("file with bearer tokens, one a line; # begins a comment", "intake.tokens")
    ] = None
    token_command: Annotated[
        Command | None,
        _program("program that prints a bearer token", "pass show streamops/intake", alternative=True),
    ] = None
    anonymous: Annotated[bool, setting("true: no token is needed; only on a loopback address")] = False
    max_body: Annotated[Annotated[int, Meta(ge=1, le=1 << 29)], setting("maximum bytes of a message")] = (
        1 << 20
    )
    max_connections: Annotated[
        Count, setting("maximum number of open connections; further ones are closed")
    ] = 1000

    def _problems(self) -> Iterator[str]:
        yield from self._both(("token_file", "token_command"))
        if self.anonymous and (self.token_file is not None or self.token_command is not None):
            yield "says anonymous, and where tokens are"


class ConfigTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file."""

    default_context: Annotated[
        str | None,
        _shown(
            "the context unless a flag, a variable or `streamops ctx use` names another",
            "orders",
            alternative=True,
        ),
    ] = None
    contexts: Annotated[dict[str, ContextTable], setting("a named connection", "orders")] = {}
    health: Annotated[Thresholds, _shown("thresholds of the health rules")] = Thresholds()
    console: Annotated[ConsoleOptions, _shown("`streamops tui`")] = ConsoleOptions()
    views: Annotated[
        dict[str, SavedView],
        _shown("a saved view of the console, opened with :view; :save NAME saves one", "stuck"),
    ] = {}
    retention: Annotated[tuple[RetentionPolicy, ...], setting("what `streamops trim --policies` keeps")] = ()
    pools: Annotated[
        dict[str, PoolTable],
        setting(
            "workers of one group, how many, and what runs them: `streamops autoscale`, `streamops pools`",
            "billing",
        ),
    ] = {}
    budgets: Annotated[dict[str, BudgetTable], setting("workers that several pools share", "shared")] = {}
    topics: Annotated[
        tuple[TopicTable, ...], setting("messages sent to webhooks (HTTP): `streamops webhooks`")
    ] = ()
    callbacks: Annotated[CallbacksTable, setting("how they are called")] = CallbacksTable()
    intake: Annotated[IngestTable, setting("`streamops webhooks serve --listen`")] = IngestTable()
    notify: Annotated[NotifyTable, setting("`streamops exporter --notify`; needs streamops[notify]")] = (
        NotifyTable()
    )
    exporter: Annotated[ExporterTable, setting("`streamops exporter` serves metrics to Prometheus")] = (
        ExporterTable()
    )


def _timeout_problems(timeout: timedelta) -> Iterator[str]:
    if not timedelta(0) < timeout <= LONGEST_TIMEOUT:
        yield "timeout: not above nothing and up to ten minutes"
