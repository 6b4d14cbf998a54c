import pytest

from streamops.tui.web.child import BrokenPacket, PacketKind, packet, read_head, read_message, read_token
from streamops.tui.web.server import headers_for, is_own_host, is_own_origin, is_token


def test_names_of_this_machine_are_its_own() -> None:
    for host in ["127.0.0.1:9642", "127.0.0.1", "127.8.9.1:1", "localhost:9642", "LOCALHOST:1", "[::1]:9642"]:
        assert is_own_host(host)


def test_a_host_by_another_name_is_not_own() -> None:
    for host in [
        None,
        "",
        "evil.example:9642",
        "127.0.0.1.evil.example",
        "localhost.evil.example:9642",
        "10.0.0.1:9642",
        "127.0.0.1:9642\nx",
        "evil@127.0.0.1",
        "0.0.0.0:9642",
        "[::]:9642",
        "127.0.0.1:",
        "localhost:9642 ",
    ]:
        assert not is_own_host(host)


def test_only_its_own_page_is_its_origin() -> None:
    for origin, host, own in [
        ("http://127.0.0.1:9642", "127.0.0.1:9642", True),
        ("http://LocalHost:9642", "localhost:9642", True),
        ("http://localhost:3000", "localhost:9642", False),
        ("https://127.0.0.1:9642", "127.0.0.1:9642", False),
        ("http://evil.example", "127.0.0.1:9642", False),
        ("null", "127.0.0.1:9642", False),
        (None, "127.0.0.1:9642", False),
        ("http://127.0.0.1:9642", None, False),
    ]:
        assert is_own_origin(origin, host) is own


def test_a_token_is_compared_whole() -> None:
    assert is_token("secret", "secret")
    for other in ("", "secre", "secret ", "Secret", "\udcff"):
        assert not is_token(other, "secret")


def test_the_page_may_ask_nobody_else() -> None:
    policy = headers_for("127.0.0.1:1")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self' ws://127.0.0.1:1" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http:" not in policy
    assert "*" not in policy


def test_messages_of_the_page_become_packets() -> None:
    for text, packed in [
        ('["stdin", "jé"]', b"D\0\0\0\x03j\xc3\xa9"),
        ('["focus"]', b'M\0\0\0\x10{"type":"focus"}'),
        ('["resize", {"width": 9, "height": 3}]', b'M\0\0\0&{"type":"resize","width":9,"height":3}'),
        ('["ping", "1"]', b""),
    ]:
        assert read_message(text) == packed


def test_other_messages_are_refused() -> None:
    for text in [
        "",
        "{}",
        "[]",
        '["quit"]',
        '["stdin"]',
        '["stdin", 1]',
        '["resize", {"width": 0}]',
        '["resize", {"width": 99999}]',
        '["meta", {"type": "deliver_chunk_request"}]',
        '["stdin", "\\ud800"]',
    ]:
        with pytest.raises(BrokenPacket):
            read_message(text)


def test_a_token_comes_first() -> None:
    for text in ["", "[]", '"token"', '["token"]', '["stdin", "x"]', '["token", 1]', '["token", "a", "b"]']:
        with pytest.raises(BrokenPacket):
            read_token(text)


def test_packets_have_a_bound() -> None:
    assert read_head(packet(PacketKind.DATA, b"abc")[:5]) == ("D", 3)
    with pytest.raises(BrokenPacket):
        read_head(b"D\xff\xff\xff\xff")
