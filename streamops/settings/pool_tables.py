"""What a configuration file may say of pools of workers, and of who runs them."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import SettingsError
from streamops.settings.passwords import split_command
from streamops.targets.specs import COMMAND_TIMEOUT, DEFAULT_TIMEOUT, TargetKind

Command = str | tuple[str, ...]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]

LONGEST_TIMEOUT: Final = timedelta(minutes=10)

_DEFAULT: Final = ScalingConfig()
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_DNS_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_API_VERSION: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30}")


class KubernetesTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME.kubernetes]``: the object whose replicas are the pool's workers.

    Attributes:
        name: Its name.
        kind: Its kind; any that has a scale subresource.
        api_version: Group and version of that kind.
        plural: How paths name the kind; its name in lower case and an s unless stated.
        namespace: Its namespace; the one of the context, or of the pod, unless stated.
        context: The context of the kubeconfig; its current one unless stated.
        kubeconfig: The file to find the context in. Unless stated, the account of the pod, where there is one and no
            context is named; else what KUBECONFIG says; else ``~/.kube/config``.
        timeout: The longest wait for an answer.
    """

    name: str
    kind: str = "Deployment"
    api_version: str = "apps/v1"
    plural: str | None = None
    namespace: str | None = None
    context: str | None = None
    kubeconfig: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        _raise(self._problems())

    def _problems(self) -> Iterator[str]:
        for key, value, pattern in (
            ("name", self.name, _DNS_NAME),
            ("kind", self.kind, _KIND),
            ("api_version", self.api_version, _API_VERSION),
            ("plural", self.plural, _LABEL),
            ("namespace", self.namespace, _LABEL),
        ):
            if value is not None and not pattern.fullmatch(value):
                yield f"{key}: not as Kubernetes writes one"
        yield from _timeout_problems(self.timeout)


class CommandTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME.command]``: programs that count and set workers; run without a shell.

    Attributes:
        get: Prints the number of workers, or ``{"ordered": 3, "ready": 2}``.
        set: Sets it to ``{desired}``; may use ``{current}``, ``{reason}``, ``{pool}`` and ``{key}`` too. Ends with
            status 6 where the number is not ``{current}`` any more.
        timeout: The longest that either may take.
        env: Variables beside those of streamops itself; their values are not shown.
    """

    get: Command
    set: Command
    timeout: timedelta = COMMAND_TIMEOUT
    env: dict[str, str] = {}

    def __post_init__(self) -> None:
        _raise(self._problems())

    def _problems(self) -> Iterator[str]:
        for key in ("get", "set"):
            try:
                args = split_command(getattr(self, key))
            except SettingsError as error:
                yield f"{key}: {error.message}"
            else:
                if key == "set" and not any("{desired}" in arg for arg in args):
                    yield "set: says nowhere {desired}, the number to set"
        if any(not name or "=" in name or "\0" in name + value for name, value in self.env.items()):
            yield "env: holds what no environment can"
        yield from _timeout_problems(self.timeout)


class PoolTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[pools.NAME]``: workers of one group of one stream, how many there may be, and who runs them.

    ``ValueError`` where keys do not go together; msgspec turns that into its own error.

    Attributes:
        stream: The stream that they read.
        group: Its group.
        context: The context that the stream is in; the one in use unless stated.
        minimum: Workers there are at least; 0 lets the pool go to zero.
        maximum: Workers there are at most.
        objective: The longest an entry should wait.
        start_up: From ordering a worker to its first entry, until that is learned.
        idle_for: A pool that may go to zero does so after this long without arrivals.
        prefetch: Entries that keep one worker busy; more workers than work has portions are of no use.
        lanes: Shards or ordering lanes, where work may only be split so far; at will unless stated.
        by_arrivals: Whether arrivals alone may call for workers while the lag is unknown.
        budget: The budget that it shares with other pools.
        weight: How much its waits count there.
        target: Who runs the workers; the table of that name says more.
        kubernetes: Which object.
        command: Which programs.
    """

    stream: str
    group: str
    context: str | None = None
    minimum: Annotated[int, Meta(ge=0, le=1_000_000)] = _DEFAULT.minimum
    maximum: Count = _DEFAULT.maximum
    objective: timedelta = _DEFAULT.objective
    start_up: timedelta = _DEFAULT.start_up
    idle_for: timedelta = _DEFAULT.idle_for
    prefetch: Count = _DEFAULT.prefetch
    lanes: Count | None = None
    by_arrivals: bool = _DEFAULT.by_arrivals
    budget: str | None = None
    weight: Annotated[float, Meta(gt=0, le=1000)] = 1.0
    target: TargetKind = TargetKind.LOCAL
    kubernetes: KubernetesTable | None = None
    command: CommandTable | None = None

    def __post_init__(self) -> None:
        _raise(self._problems())

    def scaling(self) -> ScalingConfig:
        """Its limits and objective, as the policy takes them."""
        known = set(ScalingConfig.__struct_fields__)
        return ScalingConfig(**{key: value for key, value in asdict(self).items() if key in known})

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
    """``[budgets.NAME]``: what several pools share.

    Attributes:
        workers: Workers that all pools of the budget have together at most.
    """

    workers: Count


def _timeout_problems(timeout: timedelta) -> Iterator[str]:
    if not timedelta(0) < timeout <= LONGEST_TIMEOUT:
        yield "timeout: not above nothing and up to ten minutes"


def _raise(problems: Iterator[str]) -> None:
    if found := list(problems):
        raise ValueError("; ".join(found))
