"""Pools in configuration files: what they say, what they may not say, and how their targets are reached."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import ExitCode, SettingsError
from streamops.model.secret import Secret
from streamops.settings.config import validate_file
from streamops.settings.describe import describe_settings, render_example
from streamops.settings.load import load_pools
from streamops.settings.pools import PoolSettings, read_target
from streamops.targets.specs import (
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetSpec,
)
from tests.support.project import PROJECT
from tests.support.settings.place import PLANTED, Place

ROOT = PROJECT
POOL = '[pools.billing]\nstream = "orders"\ngroup = "billing"\n'
KUBERNETES = POOL + 'target = "kubernetes"\n[pools.billing.kubernetes]\nname = "billing-workers"\n'
COMMAND = POOL + 'target = "command"\n[pools.billing.command]\nget = "count it"\nset = "scale {desired}"\n'


def pools_of(place: Place, context: str | None = None, **variables: str) -> PoolSettings:
    return load_pools(place.environ(**variables), place.cwd, context)


def target_of(place: Place, **variables: str) -> TargetSpec:
    return read_target(pools_of(place).find("billing"), place.environ(**variables))


def test_without_a_table_there_is_no_pool(place: Place) -> None:
    assert place.load().tables.pools == {}
    with pytest.raises(SettingsError, match="no pool named 'billing' is configured") as told:
        pools_of(place).find("billing")
    assert "[pools.NAME]" in told.value.hint


def test_two_keys_make_a_pool_with_the_policys_own_defaults(place: Place) -> None:
    place.write_user(POOL)
    pool = pools_of(place).find("billing")
    assert pool.scaling == ScalingConfig()
    assert (pool.table.stream, pool.table.group, pool.table.weight) == ("orders", "billing", 1.0)
    assert target_of(place) == LocalSpec()
    with pytest.raises(SettingsError, match="no pool named 'biling'") as told:
        pools_of(place).find("biling")
    assert told.value.hint == "Did you mean billing? Known pools: billing."


def test_everything_that_can_be_said(place: Place) -> None:
    place.write_user(
        POOL + 'minimum = 0\nmaximum = 20\nobjective = "1m"\nstart_up = 5\nidle_for = "10m"\nprefetch = 64\n'
        'by_arrivals = false\nbudget = "shared"\nweight = 2\n[budgets.shared]\nworkers = 40\n'
    )
    found = pools_of(place)
    pool = found.find("billing")
    assert pool.scaling == ScalingConfig(
        minimum=0,
        maximum=20,
        objective=timedelta(minutes=1),
        start_up=timedelta(seconds=5),
        idle_for=timedelta(minutes=10),
        prefetch=64,
        by_arrivals=False,
    )
    assert (pool.table.budget, pool.table.weight, found.budgets) == ("shared", 2.0, {"shared": 40})


def test_the_stronger_file_has_a_pool_whole(place: Place) -> None:
    place.write_user(POOL + "maximum = 20\n" + POOL.replace("billing", "mail").replace("orders", "letters"))
    place.write_trusted(POOL + "minimum = 2\n")
    found = pools_of(place)
    assert list(found.pools) == ["billing", "mail"]
    assert (found.find("billing").scaling.minimum, found.find("billing").scaling.maximum) == (2, 10)
    rows = {row.key: (row.value, row.origin) for row in describe_settings(place.load())}
    assert rows["pools.billing.minimum"] == ("2", str(place.project_file))
    assert rows["pools.billing.maximum"] == ("10", "default")
    assert rows["pools.mail.stream"] == ("letters", str(place.user_file))


def test_a_pool_is_in_its_context(place: Place) -> None:
    place.write_user(
        '[contexts.eu]\nurl = "redis://eu"\n[contexts.us]\nurl = "redis://us"\n'
        + "".join(
            f'[pools.{name}]\nstream = "s"\ngroup = "{name}"\n{context}'
            for name, context in (("any", ""), ("eu", 'context = "eu"\n'), ("us", 'context = "us"\n'))
        )
    )
    assert [list(pools_of(place, context).pools) for context in ("eu", "us", None)] == [
        ["any", "eu"],
        ["any", "us"],
        ["any"],
    ]


def test_a_kubernetes_target_takes_what_the_file_says_and_defaults_else(place: Place) -> None:
    place.write_user(KUBERNETES)
    plain = target_of(place, KUBECONFIG="/a::/b")
    assert plain == KubernetesSpec(name="billing-workers", kubeconfig=("/a", "/b"))
    plain = target_of(place)
    assert isinstance(plain, KubernetesSpec)
    assert plain.kubeconfig == (str(place.home / ".kube/config"),)
    place.write_user(
        KUBERNETES + 'kind = "WorkerPool"\napi_version = "example.com/v1alpha1"\nnamespace = "shop"\n'
        'context = "eu"\nkubeconfig = "kube"\ntimeout = "3s"\n'
    )
    assert target_of(place, KUBECONFIG="/a") == KubernetesSpec(
        name="billing-workers",
        kind="WorkerPool",
        api_version="example.com/v1alpha1",
        plural="workerpools",
        namespace="shop",
        context="eu",
        kubeconfig=(str(place.user_file.parent / "kube"),),
        timeout=timedelta(seconds=3),
    )


def test_in_a_pod_its_account_is_taken(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamops.settings.pools.SERVICE_ACCOUNT", str(tmp_path))
    place.write_user(KUBERNETES)
    for stated, kubeconfig in (("", ()), ('context = "eu"\n', ("/a",)), ('kubeconfig = "/b"\n', ("/b",))):
        place.write_user(KUBERNETES + stated)
        found = target_of(place, KUBERNETES_SERVICE_HOST="10.0.0.1", KUBECONFIG="/a")
        assert isinstance(found, KubernetesSpec)
        assert found.kubeconfig == kubeconfig


def test_commands_are_split_as_a_shell_would(place: Place) -> None:
    place.write_user(
        POOL + 'target = "command"\n[pools.billing.command]\nget = "count \'a b\'"\n'
        'set = ["scale", "--to={desired}"]\ntimeout = "5s"\nenv = { TOKEN = "x" }\n'
    )
    assert target_of(place) == CommandSpec(
        get=("count", "a b"),
        set=("scale", "--to={desired}"),
        timeout=timedelta(seconds=5),
        env={"TOKEN": Secret("x")},
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[pools.a]\nstream = 's'", "pools.a: Object missing required field `group`"),
        ("pools = 3", "pools: expected a table, got an integer"),
        (POOL + "maximum = 0", "pools.billing.maximum: expected an integer >= 1"),
        (POOL + "minimum = 11", "pools.billing: minimum must not be above maximum"),
        (POOL + "weight = 0", "pools.billing.weight: expected a number > 0.0"),
        (POOL + "objective = 'soon'", "pools.billing.objective: not a duration"),
        (POOL + "maxmum = 3", "pools.billing.maxmum: unknown key"),
        (POOL + "target = 'k8s'", "pools.billing.target: not one of local, kubernetes, command"),
        (
            POOL + "target = 'command'",
            'pools.billing: says target = "command" and has no table of that name',
        ),
        (
            KUBERNETES.replace('"kubernetes"', '"local"'),
            'pools.billing: says target = "local" and has a table kubernetes',
        ),
        (KUBERNETES + "kubernetes = 3", "pools.billing.kubernetes.kubernetes: unknown key"),
        (POOL + "kubernetes = 3", "pools.billing.kubernetes: expected a table, got an integer"),
        (KUBERNETES + "name2 = 3", "pools.billing.kubernetes.name2: unknown key"),
        (
            KUBERNETES + "kind = 'deployment'\nplural = 'a/b'\nnamespace = '..'\napi_version = 'apps'",
            "pools.billing.kubernetes: "
            + "; ".join(
                f"{key}: not as Kubernetes writes one"
                for key in ("kind", "api_version", "plural", "namespace")
            ),
        ),
        (KUBERNETES + "timeout = '1h'", "pools.billing.kubernetes: timeout: not above nothing and up to ten minutes"),
        (
            COMMAND.replace("{desired}", "{wanted}").replace("count it", "count 'it"),
            "pools.billing.command: get: not a program with arguments; set: says nowhere {desired}, the number to set",
        ),
        (COMMAND + 'env = { "A=B" = "x" }', "pools.billing.command: env: holds what no environment can"),
        ("[budgets.a]\nworkers = 0", "budgets.a.workers: expected an integer >= 1"),
        (POOL + 'budget = "share"\n[budgets.shared]\nworkers = 1', "pools.billing.budget: no budget named 'share'"),
        (POOL + 'context = "eu"', "pools.billing.context: no context named 'eu'"),
        (
            POOL + POOL.replace("pools.billing", "pools.b"),
            "pools.b.group: pools.billing has the same stream and group: both would order workers for the same entries",
        ),
        (
            KUBERNETES + KUBERNETES.replace("pools.billing", "pools.b").replace("orders", "o"),
            "pools.b.kubernetes: pools.billing has the same object: each would undo what the other does",
        ),
        (
            '[contexts.eu]\nhost = "e"\n[contexts.us]\nhost = "u"\n[budgets.shared]\nworkers = 9\n'
            + "".join(
                f'[pools.{name}]\nstream = "s"\ngroup = "g"\ncontext = "{name}"\nbudget = "shared"\n'
                for name in ("us", "eu")
            ),
            "budgets.shared: its pools are in several contexts: eu, us",
        ),
        (
            '[contexts.eu]\nhost = "h"\n' + POOL + POOL.replace("pools.billing", "pools.b") + 'context = "eu"',
            "pools.b.group: pools.billing has the same stream and group: both would order workers for the same entries",
        ),
        (
            POOL + 'minimum = 3\nbudget = "shared"\n[budgets.shared]\nworkers = 2',
            "budgets.shared: 2 workers, of which its pools have 3 at least",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str, problem: str, place: Place) -> None:
    path = place.write_user(text)
    problems = validate_file(path, place.environ())
    assert [one.message.removeprefix(f"{path}: ") for one in problems] == [problem]
    assert PLANTED not in repr(problems)
    with pytest.raises(SettingsError):
        pools_of(place)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        (
            f'webhook = {{ url = "https://h.example/{PLANTED}" }}',
            "pools.billing.webhook: unknown key",
            "The webhook target was removed: use the target command, with curl",
        ),
        (
            'target = "webhook"',
            "pools.billing.target: not one of local, kubernetes, command",
            "The webhook target was removed: use the target command, with curl",
        ),
        ("lanes = 8", "pools.billing.lanes: unknown key", "Lanes were removed: set maximum"),
    ],
)
def test_a_key_that_was_removed_is_refused_with_what_replaces_it(
    text: str, problem: str, hint: str, place: Place
) -> None:
    path = place.write_user(POOL + text)
    (told,) = validate_file(path, place.environ())
    assert told.message == f"{path}: {problem}"
    assert told.hint.startswith(hint)
    with pytest.raises(SettingsError) as raised:
        pools_of(place)
    assert raised.value.exit_code is ExitCode.USAGE


def test_no_row_holds_what_people_write_secrets_into(place: Place) -> None:
    place.write_user(
        COMMAND.replace("count it", f"count --password {PLANTED}") + f'env = {{ TOKEN = "{PLANTED}" }}\n'
    )
    rows = {row.key: row.value for row in describe_settings(place.load())}
    assert PLANTED not in repr(rows)
    assert rows["pools.billing.target"] == "command"
    assert rows["pools.billing.command.get"] == "count ***"
    assert rows["pools.billing.command.env"] == "TOKEN -> ***"
    assert rows["pools.billing.command.timeout"] == "30s"


def test_what_the_documentation_shows_is_valid(place: Place) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "targets.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        assert validate_file(place.write_user(block), place.environ()) == ()


def test_the_examples_pool_can_be_loaded(place: Place) -> None:
    place.write_user(render_example())
    (pool,) = load_pools(place.environ(), place.cwd, "orders").pools.values()
    assert isinstance(read_target(pool, place.environ()), KubernetesSpec)
