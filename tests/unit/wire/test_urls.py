from datetime import timedelta
from itertools import product

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.errors import ExitCode, SettingsError
from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.urls import QUERY_KEYS, SCHEMES, parse_url
from tests.support.tables import table

PLANTED = "hunter2-of-the-north"


def refusal(url: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse_url(url)
    return caught.value


@table(
    ("url", "expected"),
    [
        ("redis://h", ConnectionOptions(addresses=(("h", 6379),), label="redis://h:6379/0")),
        ("redis://h/?", ConnectionOptions(addresses=(("h", 6379),), label="redis://h:6379/0")),
        (" redis://h:7/3\n", ConnectionOptions(addresses=(("h", 7),), database=3, label="redis://h:7/3")),
        ("REDIS://h", ConnectionOptions(addresses=(("h", 6379),), label="redis://h:6379/0")),
        ("valkey://h", ConnectionOptions(addresses=(("h", 6379),), label="valkey://h:6379/0")),
        ("redis://h?db=4", ConnectionOptions(addresses=(("h", 6379),), database=4, label="redis://h:6379/4")),
        ("redis://h/04", ConnectionOptions(addresses=(("h", 6379),), database=4, label="redis://h:6379/4")),
        (
            "redis://h/4?db=4",
            ConnectionOptions(addresses=(("h", 6379),), database=4, label="redis://h:6379/4"),
        ),
        ("redis://[::1]:7", ConnectionOptions(addresses=(("::1", 7),), label="redis://[::1]:7/0")),
        (
            "redis://[fe80::1%25eth0]",
            ConnectionOptions(addresses=(("fe80::1%eth0", 6379),), label="redis://[fe80::1%25eth0]:6379/0"),
        ),
        (
            "redis://us%40er:p%3Aa%2Fs%40s@h",
            ConnectionOptions(
                addresses=(("h", 6379),),
                username="us@er",
                password=Secret("p:a/s@s"),
                label="redis://h:6379/0",
            ),
        ),
        (
            "redis://:p@ss:w0rd@h",
            ConnectionOptions(
                addresses=(("h", 6379),), password=Secret("p@ss:w0rd"), label="redis://h:6379/0"
            ),
        ),
        (
            "redis://user@h",
            ConnectionOptions(addresses=(("h", 6379),), username="user", label="redis://h:6379/0"),
        ),
        ("redis://:@h", ConnectionOptions(addresses=(("h", 6379),), label="redis://h:6379/0")),
        (
            "redis://h?timeout=2.5&client_name=watch",
            ConnectionOptions(
                addresses=(("h", 6379),),
                timeout=timedelta(seconds=2.5),
                client_name="watch",
                label="redis://h:6379/0",
            ),
        ),
        ("rediss://h", ConnectionOptions(addresses=(("h", 6379),), tls=Tls(), label="rediss://h:6379/0")),
        (
            "valkeys://h?ca=/etc/a%20b.pem&cert=c.pem&key=k.pem&sni=inner.h&verify=no",
            ConnectionOptions(
                addresses=(("h", 6379),),
                tls=Tls("/etc/a b.pem", "c.pem", "k.pem", "inner.h", verify=False),
                label="valkeys://h:6379/0",
            ),
        ),
        (
            "unix:///run/redis.sock",
            ConnectionOptions(addresses=(), socket_path="/run/redis.sock", label="unix:///run/redis.sock"),
        ),
        (
            "unix:///run/a%40b%20c.sock?db=2",
            ConnectionOptions(
                addresses=(),
                socket_path="/run/a@b c.sock",
                database=2,
                label="unix:///run/a%40b%20c.sock?db=2",
            ),
        ),
        (
            "redis+unix://u:p@/run/redis.sock",
            ConnectionOptions(
                addresses=(),
                socket_path="/run/redis.sock",
                username="u",
                password=Secret("p"),
                label="unix:///run/redis.sock",
            ),
        ),
        (
            "redis+sentinel://u:p@h1:1,h2,[::1]:3/orders/5?sentinel_username=watcher",
            ConnectionOptions(
                mode=Mode.SENTINEL,
                addresses=(("h1", 1), ("h2", 26379), ("::1", 3)),
                database=5,
                username="u",
                password=Secret("p"),
                sentinel_service="orders",
                sentinel_username="watcher",
                label="redis+sentinel://h1:1,h2:26379,[::1]:3/orders/5",
            ),
        ),
        (
            "rediss+sentinel://h/orders",
            ConnectionOptions(
                mode=Mode.SENTINEL,
                addresses=(("h", 26379),),
                tls=Tls(),
                sentinel_service="orders",
                label="rediss+sentinel://h:26379/orders/0",
            ),
        ),
        (
            "valkeys+cluster://h1,h2:7/0",
            ConnectionOptions(
                mode=Mode.CLUSTER,
                addresses=(("h1", 6379), ("h2", 7)),
                tls=Tls(),
                label="valkeys+cluster://h1:6379,h2:7",
            ),
        ),
        (
            "redis://h1,h2?cluster=TRUE",
            ConnectionOptions(
                mode=Mode.CLUSTER,
                addresses=(("h1", 6379), ("h2", 6379)),
                label="redis+cluster://h1:6379,h2:6379",
            ),
        ),
        ("redis://h?cluster=0", ConnectionOptions(addresses=(("h", 6379),), label="redis://h:6379/0")),
    ],
)
def test_a_url_sets_the_options_that_it_names(url: str, expected: ConnectionOptions) -> None:
    assert parse_url(url) == expected


@table(
    ("url", "message"),
    [
        ("", "the URL has no scheme"),
        ("localhost:6379", "the URL has no scheme"),
        ("unix:/run/redis.sock", "the URL has no scheme"),
        ("http://h", "the URL has an unknown scheme"),
        ("redis://", "the URL has nothing where the host should be"),
        ("redis:///0", "the URL has nothing where the host should be"),
        ("redis://:6379", "the URL has nothing where the host should be"),
        ("redis://:secret", "the URL has nothing where the host should be"),
        ("redis://user:secret@", "the URL has nothing where the host should be"),
        ("redis://user:secret", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis://h:", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis://h:0", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis://h:65536", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis://h:٣", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis://[::1]7", "the URL has a bad port after the host: not a number from 1 to 65535"),
        ("redis+cluster://a,b:x", "the URL has a bad port after host 2: not a number from 1 to 65535"),
        ("redis+cluster://a,,b", "the URL has nothing where host 2 should be"),
        ("redis://::1", "the URL has nothing where the host should be"),
        ("redis://fe80::1", "the URL has too many colons in the host"),
        ("redis://a b", "the URL has no name and no address where the host should be"),
        ("redis://${HOST}", "the URL has no name and no address where the host should be"),
        (f"redis://{'a' * 64}", "the URL has no name and no address where the host should be"),
        ("redis://a..b", "the URL has no name and no address where the host should be"),
        ("redis://[::x]", "the URL has brackets, but no IPv6 address where the host should be"),
        ("redis://h/x", "the URL has a database that is not a number"),
        ("redis://h/-1", "the URL has a database that is not a number"),
        ("redis://h/0/1", "the URL has a database that is not a number"),
        (f"redis://h/{2**31}", "the URL has a database that is not a number"),
        ("redis://h?db=x", "the URL has a database that is not a number"),
        ("redis://h/1?db=2", "the URL has two database numbers, in its path and in its query"),
        ("redis://h1,h2", "the URL has several hosts, but the scheme of one"),
        ("redis+cluster://h/1", "the URL has a database number, but a cluster has database 0 only"),
        ("redis://h/1?cluster=true", "the URL has a database number, but a cluster has database 0 only"),
        ("redis+cluster://h?cluster=false", "the URL has a cluster key against its scheme"),
        ("redis+sentinel://h/s?cluster=true", "the URL has a cluster key against its scheme"),
        ("unix:///s?cluster=true", "the URL has a cluster key against its scheme"),
        ("redis+sentinel://h", "the URL has no name of a Sentinel service in its path"),
        ("redis+sentinel://h/", "the URL has no name of a Sentinel service in its path"),
        ("redis+sentinel://h/a%20b", "the URL has no name of a Sentinel service in its path"),
        ("redis+sentinel://h/s/x", "the URL has a database that is not a number"),
        ("redis://h?sentinel_username=u", "the URL has a sentinel_username, but names no Sentinels"),
        ("unix://", "the URL has no path of a socket"),
        ("unix:///", "the URL has no path of a socket"),
        ("unix://run/redis.sock", "the URL has a host before the path of its socket"),
        ("unix://u:p@h/redis.sock", "the URL has a host before the path of its socket"),
        ("unix:///a%0Ab", "the URL has a character that does not print in its path"),
        ("redis://h?=1", "the URL has an unknown key '' in its query"),
        ("redis://h?tiemout=1", "the URL has an unknown key 'tiemout' in its query"),
        ("redis://h?password=x", "the URL has a password in its query"),
        ("redis+sentinel://h/s?sentinel_password=x", "the URL has a sentinel_password in its query"),
        ("redis://h?db=1&db=1", "the URL has the key db twice in its query"),
        ("redis://h?timeout", "the URL has no usable value for the key timeout"),
        ("redis://h?timeout=0", "the URL has no usable value for the key timeout"),
        ("redis://h?timeout=2s", "the URL has no usable value for the key timeout"),
        ("redis://h?timeout=3601", "the URL has no usable value for the key timeout"),
        ("redis://h?db=null", "the URL has a database that is not a number"),
        ("redis://h?db=1.0", "the URL has a database that is not a number"),
        ("redis://h/1e1", "the URL has a database that is not a number"),
        ("redis://h?timeout=null", "the URL has no usable value for the key timeout"),
        ("redis://h?timeout=1e-9", "the URL has no usable value for the key timeout"),
        ("redis://h?timeout=inf", "the URL has no usable value for the key timeout"),
        ("redis://h?verify=null", "the URL has no usable value for the key verify"),
        ("rediss://h?sni=h%E9", "the URL has a sni that is not UTF-8 once percent-decoded"),
        ("rediss://h?sni=%C3%A9", "the URL has no usable value for the key sni"),
        ("redis://h?timeout=nan", "the URL has no usable value for the key timeout"),
        ("redis://h?client_name=a%20b", "the URL has no usable value for the key client_name"),
        ("redis://h?cluster=maybe", "the URL has no usable value for the key cluster"),
        ("rediss://h?sni=a/b", "the URL has no usable value for the key sni"),
        ("rediss://h?ca=", "the URL has no usable value for the key ca"),
        ("rediss://h?ca=%00", "the URL has a character that does not print in its ca"),
        ("rediss://h?key=k.pem", "the URL has a key without its cert in its query"),
        ("redis://h?ca=a.pem", "the URL has the key ca in its query, but speaks no TLS"),
        ("redis://h?verify=false", "the URL has the key verify in its query, but speaks no TLS"),
        ("redis://h#x", "the URL has a # in it, which means nothing here"),
        ("redis://h\x00", "the URL has a character that does not print"),
        ("redis://h\udcff", "the URL has a character that does not print"),
        ("redis://%00@h", "the URL has a character that does not print in its user"),
        ("redis://:%ff@h", "the URL has a password that is not UTF-8 once percent-decoded"),
        (
            "redis://:a/b@h",
            "the URL has an @ after a /, ? or #, so something is not percent-encoded",
        ),
        (
            "unix://:a/b@/s",
            "the URL has an @ after a /, ? or #, so something is not percent-encoded",
        ),
    ],
)
def test_a_url_is_refused_in_one_line(url: str, message: str) -> None:
    error = refusal(url)
    assert error.message == message
    assert error.hint
    assert "\n" not in error.message + error.hint
    assert error.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("url", "guess"),
    [("redis://h?tiemout=1", "timeout"), ("redis://h?clientname=1", "client_name"), ("rediz://h", "redis")],
)
def test_a_slip_is_answered_with_what_is_known(url: str, guess: str) -> None:
    hint = refusal(url).hint
    assert hint.startswith(f"Did you mean {guess}? Known ")
    assert all(name in hint for name in (QUERY_KEYS if "?" in url else SCHEMES))


def test_a_huge_unknown_key_stays_one_line() -> None:
    assert len(refusal("redis://h?" + "x" * 100_000).message) < 100


SPECIAL = st.text(alphabet=":/?#@%[],&=.- ab1é", max_size=8)
ANYTHING = st.one_of(
    st.text(),
    st.text(alphabet=st.characters()),
    st.text(alphabet=":/?#@%[],&=.-+ab019é\n"),
    st.builds("{}://{}".format, st.sampled_from(sorted(SCHEMES)), st.text(alphabet=":/?#@%[],&=.-ab019é")),
    st.builds(
        "rediss+sentinel://h/s?{}={}".format,
        st.sampled_from(sorted(QUERY_KEYS)),
        st.text(alphabet="%&=.019ae"),
    ),
)


@given(ANYTHING)
def test_no_text_raises_anything_else(url: str) -> None:
    try:
        options = parse_url(url)
    except SettingsError:
        return
    assert parse_url(options.label).label == options.label


@given(
    template=st.sampled_from(
        [
            "{scheme}://{user}:{password}@{rest}",
            "{scheme}://{user}:{password}@h:6379/{rest}",
            "{scheme}://h,{user}:{password}@h",
            "{scheme}:{user}:{password}@{rest}",
            "{user}:{password}@{rest}",
            "{scheme}://:{password}",
        ]
    ),
    scheme=st.sampled_from([*sorted(SCHEMES), "http", ""]),
    user=SPECIAL,
    before=SPECIAL,
    after=SPECIAL,
    rest=SPECIAL,
)
def test_a_planted_password_never_shows(
    *, template: str, scheme: str, user: str, before: str, after: str, rest: str
) -> None:
    # With the only @ inside what is meant as the password, its rest is a host, and a good one.
    assume("@" in template or "@" not in before)
    url = template.format(scheme=scheme, user=user, password=f"{before}{PLANTED}{after}", rest=rest)
    try:
        options = parse_url(url)
    except SettingsError as error:
        shown = f"{error.message} {error.hint} {error!r} {error.__cause__!r} {error.__context__!r}"
    else:
        assert options.password is not None
        assert PLANTED in options.password.reveal()
        shown = f"{options.label} {options!r} {options}"
    assert PLANTED not in shown


NAMES = st.from_regex(r"[a-z0-9_]{1,8}(\.[a-z0-9-]{1,8}){0,2}", fullmatch=True)
HOSTS = st.one_of(
    NAMES,
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map("[{}]".format),
    st.ip_addresses(v=6).map("[{}%25eth%2C0]".format),
)
SERVERS = st.lists(
    st.one_of(HOSTS, st.builds("{}:{}".format, HOSTS, st.integers(1, 65535))), min_size=1, max_size=3
)
DATABASES = st.one_of(st.just(""), st.integers(0, 2**31 - 1).map("/{}".format))
USERS = st.sampled_from(["", "user@", ":p%40ss@", "u:p@"])
WORDS = st.sampled_from(["redis", "rediss", "valkey", "valkeys"])
GOOD_URLS = st.one_of(
    st.builds("{}://{}{}{}".format, WORDS, USERS, SERVERS.map(lambda hosts: hosts[0]), DATABASES),
    st.builds("{}+cluster://{}{}".format, WORDS, USERS, SERVERS.map(",".join)),
    st.builds("{}+sentinel://{}{}/{}{}".format, WORDS, USERS, SERVERS.map(",".join), NAMES, DATABASES),
    st.builds(
        "unix://{}/{}".format, USERS, st.from_regex(r"([a-zé~+ ]|%20|%3F|%40|/){0,9}[a-z]", fullmatch=True)
    ).filter(lambda url: "@" not in url or url.startswith("unix:///")),
)


@given(GOOD_URLS)
def test_a_label_is_a_url_of_the_same_servers(url: str) -> None:
    options = parse_url(url)
    anonymous = replace(options, username=None, password=None)
    assert parse_url(options.label) == anonymous


@table(("prefix", "suffix"), product(["redis", "valkey"], ["", "s"]))
def test_valkey_schemes_mean_what_redis_schemes_mean(prefix: str, suffix: str) -> None:
    options = parse_url(f"{prefix}{suffix}://h/1")
    assert options.label == f"{prefix}{suffix}://h:6379/1"
    assert (options.tls is not None) == bool(suffix)


def test_a_secret_neither_prints_nor_encodes() -> None:
    secret = Secret(PLANTED)
    with pytest.raises(TypeError):
        msgspec.json.encode(ConnectionOptions(password=secret))
    assert PLANTED not in f"{secret} {secret!r}"
    assert secret == Secret(PLANTED)
    assert len({secret, Secret(PLANTED), Secret("other")}) == 2
    assert secret.reveal() == PLANTED
