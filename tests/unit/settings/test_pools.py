"""Pools in configuration files: what they say, what they may not say, and how their targets are reached."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.scaling.config import ScalingConfig
from streamops.settings.describe import describe_settings
from streamops.settings.example import read_example
from streamops.settings.load import Flags
from streamops.settings.pool_targets import read_target
from streamops.settings.pools import PoolSettings, load_pools
from streamops.settings.validate import validate_file
from streamops.targets.specs import (
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetKind,
    TargetSpec,
    WebhookSpec,
)
from tests.support.project import PROJECT
from tests.support.settings.place import PLANTED, Place

ROOT = PROJECT
POOL = '[pools.billing]\nstream = "orders"\ngroup = "billing"\n'
KUBERNETES = POOL + 'target = "kubernetes"\n[pools.billing.kubernetes]\nname = "billing-workers"\n'
COMMAND = POOL + 'target = "command"\n[pools.billing.command]\nget = "count it"\nset = "scale {desired}"\n'
WEBHOOK = POOL + f'target = "webhook"\n[pools.billing.webhook]\nurl = "https://h.example/{PLANTED}"\n'


def pools_of(place: Place, context: str | None = None, **variables: str) -> PoolSettings:
    return load_pools(place.environ(**variables), place.cwd, context)


def target_of(place: Place, **variables: str) -> TargetSpec:
    return read_target(pools_of(place).find("billing"), place.environ(**variables))


def test_without_a_table_there_is_no_pool(place: Place) -> None:
    assert place.load().pools == {}
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
        'lanes = 8\nby_arrivals = false\nbudget = "shared"\nweight = 2\n[budgets.shared]\nworkers = 40\n'
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
        lanes=8,
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
    monkeypatch.setattr("streamops.settings.pool_targets.SERVICE_ACCOUNT", str(tmp_path))
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


def test_webhooks_secrets_come_from_files_and_programs(place: Place) -> None:
    place.write_password(f"{PLANTED}-long")
    place.write_user(
        WEBHOOK
        + 'ca = "ca.pem"\nheaders = { X-Shop = "5" }\nheader_files = { Authorization = "~/password" }\n'
        'secret_file = "~/password"\n'
    )
    assert target_of(place) == WebhookSpec(
        url=Secret(f"https://h.example/{PLANTED}"),
        secret=Secret(f"{PLANTED}-long"),
        headers={"X-Shop": Secret("5"), "Authorization": Secret(f"{PLANTED}-long")},
        ca=str(place.user_file.parent / "ca.pem"),
    )
    assert PLANTED not in repr(target_of(place))
    place.write_user(WEBHOOK + 'secret_command = ["printf", "from a program of sixteen"]\n')
    found = target_of(place)
    assert isinstance(found, WebhookSpec)
    assert found.secret == Secret("from a program of sixteen")


@pytest.mark.parametrize(
    ("stated", "content", "message"),
    [
        ('secret_file = "~/password"', "short", "the secret is shorter than 16 characters"),
        ('secret_file = "~/none"', "", "secret_file: cannot read"),
        ('secret_command = "false"', "", "secret_command: failed with exit status 1"),
        ('header_files = { A = "~/password" }', "a\tb", "headers: the value of a holds what no header can"),
    ],
)
def test_secrets_that_make_no_sense(stated: str, content: str, message: str, place: Place) -> None:
    place.write_password(content)
    place.write_user(WEBHOOK + stated)
    with pytest.raises(SettingsError) as told:
        target_of(place)
    assert f"{place.user_file}: pools.billing: webhook: " in told.value.message
    assert message in told.value.message


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
        (POOL + "target = 'k8s'", "pools.billing.target: not one of local, kubernetes, command, webhook"),
        (
            POOL + "target = 'webhook'",
            'pools.billing: says target = "webhook" and has no table of that name',
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
        (WEBHOOK.replace("https", "ftp"), "pools.billing.webhook: url: begins with neither http:// nor https://"),
        (
            WEBHOOK + 'headers = { Idempotency-Key = "x" }',
            "pools.billing.webhook: headers: idempotency-key is set by the caller itself",
        ),
        (
            WEBHOOK + 'secret_file = "a"\nsecret_command = "b"',
            "pools.billing.webhook: says both secret_file and secret_command",
        ),
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


def test_no_row_holds_what_people_write_secrets_into(place: Place) -> None:
    place.write_user(
        COMMAND.replace("count it", f"count --password {PLANTED}")
        + f'env = {{ TOKEN = "{PLANTED}" }}\n'
        + WEBHOOK.replace("pools.billing", "pools.b").replace("orders", "o")
        + f'headers = {{ A = "{PLANTED}" }}\nsecret_command = "pass {PLANTED}"\n'
    )
    rows = {row.key: row.value for row in describe_settings(place.load())}
    assert PLANTED not in repr(rows)
    assert rows["pools.billing.target"] == "command"
    assert rows["pools.billing.command.get"] == "count ***"
    assert rows["pools.billing.command.env"] == "TOKEN -> ***"
    assert rows["pools.billing.command.timeout"] == "30s"
    assert rows["pools.b.webhook.url"] == "***"
    assert rows["pools.b.webhook.secret_command"] == "pass ***"
    assert "pools.b.webhook.ca" not in rows


def test_what_the_documentation_shows_is_valid(place: Place) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "targets.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        assert validate_file(place.write_user(block), place.environ()) == ()


def test_the_examples_pools_can_be_loaded(place: Place) -> None:
    place.write_user(read_example())
    found = load_pools(place.environ(), place.cwd, place.load(Flags()).context)
    assert {name: pool.table.target for name, pool in found.pools.items()} == {
        "billing": TargetKind.KUBERNETES,
        "mail": TargetKind.COMMAND,
        "images": TargetKind.WEBHOOK,
    }
    for name in ("billing", "mail"):
        read_target(found.find(name), place.environ())
