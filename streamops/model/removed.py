"""What was removed or renamed, and what does the same."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

_RECORDINGS: Final = "Recordings were removed: Prometheus keeps what the exporter serves, and `streamops status -o jsonl` prints a snapshot."
_SILENCES: Final = "Silences of the console were removed: silence alerts in Alertmanager."
_WEBHOOK: Final = (
    "The webhook target was removed: use the target command, with curl in get and set; see docs/targets.md."
)
_CONTEST: Final = (
    "Load shapes and other policies were removed: `python -m tests.benchmarks.scaling` of the sources compares them."
    " simulate takes your own load, by --stream or --history."
)
_WORKER_RATE: Final = "It was removed: --rate says how many entries one busy worker handles."
_BENCH: Final = "Measurements were removed: `make bench` of the sources prints them. The drills are one: `streamops drill`."

_TEST_NOTICES: Final = "Test notices were removed: `apprise --config FILE --tag all --body test` sends one to each address of urls_file."

_PROXY: Final = "Leave it out: a reverse proxy in front can do that. Certificates, client_ca_file and basic_auth_users are supported."
_NAMES: Final = "Leave it out and let client_ca_file be an authority that signs for these clients alone, or add basic_auth_users."
_UNVERIFIED: Final = (
    "It takes certificates without checking them: use RequireAndVerifyClientCert with a client_ca_file."
)
_OPENSSL: Final = (
    "Leave it out: TLS 1.2 and 1.3 are spoken, with the ciphers and curves of this machine's OpenSSL."
)

_TEND: Final = "`tend` is `streamops streams reclaim` now: it runs once, or again and again with --every 30s."

_REMOVED: Final[Mapping[str, str]] = {
    "streamops bench": _BENCH,
    "streamops pools scale --for": "`streamops pools override POOL N --for 1h` keeps a number of workers for a time.",
    "streamops autoscale drill": "It is one with the other drill: `streamops drill --workers 1-8`.",
    **{
        f"streamops pools simulate --{option}": _CONTEST
        for option in ("shape", "seeds", "seed", "against", "changed", "details", "processes")
    },
    "streamops pools simulate --slots": _WORKER_RATE,
    "streamops pools simulate --handler-time*": _WORKER_RATE,
    "streamops pools simulate --trace": "It was removed: `-o json` has each decision with its reason.",
    "streamops audit ls --id": "`streamops audit show AUDIT_ID` shows one action in full.",
    "streamops tui --record": _RECORDINGS,
    "streamops tui --record-max": _RECORDINGS,
    "streamops tui --replay": _RECORDINGS,
    "streamops tend": _TEND,
    "console.keymap.pulse": "The key is called overview.",
    "console.keymap.replay.*": _RECORDINGS,
    "console.keymap.silence": _SILENCES,
    "streamops exporter --notify-test": _TEST_NOTICES,
    "web-config.http_server_config": _PROXY,
    "web-config.rate_limit": _PROXY,
    **{
        f"web-config.tls_server_config.{key}": f"Write it to a file and name that in {key}_file."
        for key in ("cert", "key", "client_ca")
    },
    **{
        f"web-config.tls_server_config.client_auth_type = {name}": _UNVERIFIED
        for name in ("RequestClientCert", "RequireAnyClientCert", "RequireClientCert")
    },
    "web-config.tls_server_config.client_allowed_sans": _NAMES,
    "web-config.tls_server_config.min_version": _OPENSSL,
    "web-config.tls_server_config.max_version": _OPENSSL,
    "web-config.tls_server_config.cipher_suites": _OPENSSL,
    "web-config.tls_server_config.prefer_server_cipher_suites": _OPENSSL,
    "web-config.tls_server_config.curve_preferences": _OPENSSL,
    "streamops streams story": "Use `streamops entries trace STREAM ID`.",
    "console.keymap.story": "The key is called trace.",
    "console.keymap.story.entry": "The key is called trace.entry.",
    "pools.*.webhook": _WEBHOOK,
    "pools.*.lanes": "Lanes were removed: set maximum to how many workers can share the work.",
    "pools.*.target = webhook": _WEBHOOK,
}
"""What to say, by commands and their options, and by keys of a configuration with their values; ``*`` is anything."""


def removed_hint(name: str) -> str:
    """That something was removed, and what does the same; empty if it never was there."""
    return next((hint for pattern, hint in _REMOVED.items() if fnmatchcase(name, pattern)), "")


RENAMED: Final[Mapping[str, str]] = {
    "streams info": "streams show",
    "streams rm-entry": "entries rm",
    "groups info": "groups show",
    "groups destroy": "groups rm",
    "delayed cancel": "delayed rm",
    "scale get": "pools show",
    "scale set": "pools scale",
    "scale": "pools",
    "pause": "pools pause",
    "resume": "pools resume",
    "autoscale ls": "pools ls",
    "autoscale explain": "pools explain",
    "autoscale override": "pools override",
    "autoscale limits": "pools limits",
    "autoscale simulate": "pools simulate",
    "topics add": "webhooks create",
    "topics off": "webhooks pause",
    "topics on": "webhooks resume",
    **{f"topics {same}": f"webhooks {same}" for same in ("ls", "show", "rm", "serve")},
    "topics": "webhooks",
}
"""Commands of 0.1 by their new names, the longer one first; a release later they are no more known than others."""


def renamed_command(words: Sequence[str]) -> tuple[str, str] | None:
    """The old name that a command line begins with and its new one, without ``streamops``; None if it has none."""
    return next(
        ((old, new) for old, new in RENAMED.items() if [*words[: old.count(" ") + 1]] == old.split()), None
    )
