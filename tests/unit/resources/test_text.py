"""The sanitiser: nothing that a terminal obeys, reorders by or hides comes out of it."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.text import (
    ASCII_GLYPHS,
    cut_bytes,
    in_ascii,
    is_safe,
    safe,
    safe_bytes,
    safe_lines,
    shorten,
)
from streamops.resources.units import UNKNOWN
from tests.support.resources.text import unsafe_characters
from tests.support.tables import table

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=60)


@table(
    ("text", "shown"),
    [
        ("orders:eu", "orders:eu"),
        ("", ""),
        ("日本の注文\u3000一", "日本の注文\u3000一"),
        ("café ☕", "café ☕"),
        ("a\nb\rc\td", r"a\nb\rc\td"),
        ("\x00\x07\x7f", r"\x00\x07\x7f"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]52;c;ZXZpbA==\x07", r"\x1b]52;c;ZXZpbA==\x07"),
        ("\x9b31m", r"\u009b31m"),
        ("\udc9b31m", r"\x9b31m"),
        ("\ud800", r"\ud800"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("\u2066a\u2069", r"\u2066a\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("soft\xadhyphen", r"soft\u00adhyphen"),
        ("line\u2028para\u2029", r"line\u2028para\u2029"),
        ("no-break\xa0space", r"no-break\u00a0space"),
        ("\u3164blank\u2800", r"\u3164blank\u2800"),
        ("heart\ufe0f", r"heart\ufe0f"),
        ("tag\U000e0041", r"tag\U000e0041"),
        (r"already \x1b", r"already \x1b"),
    ],
)
def test_what_shows_in_place_of_unsafe_characters(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_characters_of_every_range_come_out_safe_and_on_one_line() -> None:
    everything = "".join(map(chr, (*range(0x2100), *range(0x2100, 0x110000, 127), *range(0xE0000, 0xE0080))))
    assert not unsafe_characters(safe(everything))
    assert len(safe(everything).splitlines()) == 1


@given(ANY_TEXT)
def test_any_text_is_safe_on_one_line_and_stays_so(text: str) -> None:
    shown = safe(text)
    assert not unsafe_characters(shown)
    assert len(shown.splitlines()) <= 1
    assert safe(shown) == shown
    shown.encode()


@given(ANY_TEXT)
def test_safe_characters_are_kept(text: str) -> None:
    kept = "".join(filter(is_safe, text))
    assert safe(kept) == kept


@given(ANY_TEXT)
def test_lines_are_kept_and_each_is_safe(text: str) -> None:
    lines = safe_lines(text).split("\n")
    assert lines == [safe(line) for line in text.replace("\r\n", "\n").split("\n")]


@given(st.binary(max_size=80), st.integers(0, 40))
def test_cut_payload_is_safe_and_says_what_is_left_out(value: bytes, limit: int) -> None:
    shown = safe_bytes(value, limit)
    assert not unsafe_characters(shown)
    assert len(shown.splitlines()) <= 1
    assert (" bytes" in shown) or len(value) <= limit


@given(st.binary(max_size=80), st.integers(0, 40))
def test_a_cut_loses_nothing_and_splits_no_character(value: bytes, limit: int) -> None:
    head, rest = cut_bytes(value, limit)
    assert len(head) <= limit or not rest
    assert len(head) + rest == len(value)
    assert value.startswith(head)


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(4, 40))
def test_a_cut_text_decodes(text: str, limit: int) -> None:
    cut_bytes(text.encode(), limit)[0].decode()


def test_the_cut_is_announced_with_its_size() -> None:
    assert safe_bytes(b"x" * 1_000_000, 3) == "xxx… +999,997 bytes"
    assert safe_bytes("é".encode() * 3, 3) == "é… +4 bytes"
    assert safe_bytes(b"abc", 3) == "abc"


def test_our_glyphs_have_ascii_stand_ins() -> None:
    assert (
        in_ascii("✓ ok ▲ warn ✗ crit ≤5 ≥5 \N{EN DASH} ▁▂▃▄▅▆▇█ a…")
        == "+ ok ! warn x crit <=5 >=5 - _.--==*# a..."
    )
    assert in_ascii("".join(map(chr, ASCII_GLYPHS))).isascii()
    assert in_ascii(UNKNOWN) == UNKNOWN


@table(
    ("text", "width", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("ab", 1, "…"), ("ab", 0, "…"), ("", 0, "")],
)
def test_a_text_longer_than_its_width_ends_in_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert shorten(text, width) == shown
