"""Untrusted mails: payloads with what a careless console would obey."""

from random import Random

from msgspec import json

from streamops.demo.payloads import Fields, encode


def mail(rng: Random, number: int) -> Fields:
    """One mail to send; its subject and body are taken from the collection in turn."""
    subject, body = _MAILS[number % len(_MAILS)]
    return encode(
        to=f"cus_{rng.randrange(10_000):04d}@example.org",
        template="campaign" if number % 3 else "receipt",
        subject=subject,
        body=body,
    )


_MAILS: tuple[tuple[str | bytes, str | bytes], ...] = (
    ("Your order is on its way", "Thank you for your order. It leaves the warehouse today."),
    # Markup of a terminal toolkit: styles, a link, an action.
    (
        "[bold red]You have won![/bold red]",
        "[link=https://example.org]claim[/link] [@click=app.quit]or quit[/] [/] [blink]",
    ),
    # Control sequences: clear the screen, set the title, write the clipboard, one-byte CSI.
    ("\x1b[2J\x1b[H\x1b[31mURGENT", b"\x1b]0;not your title\x07\x1b]52;c;bm90IHlvdXIgY2xpcGJvYXJk\x07\x9b7m"),
    # Not UTF-8: Latin-1, a broken sequence, a lone continuation byte.
    (b"Caf\xe9 \xff\xfe \xc3\x28", b"\x80\x81 Gr\xfc\xdfe aus M\xfcnchen"),
    # Wide, joined and right-to-left text, and an override that makes a file name lie.
    (
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f389\U0001f680 \u4f60\u597d",
        "\u05e9\u05dc\u05d5\u05dd invoice_\u202egpj.exe e\u0301\u0301\u0301",
    ),
    (
        "A subject\r\nBcc: everyone@example.org",
        "tab\there, nul\x00there, bell\x07, backspace\x08\x08\x08, form\x0cfeed",
    ),
    (
        "Monthly report",
        json.encode({"rows": [{"day": day, "sent": day * 37 % 1000, "opened": None} for day in range(400)]}),
    ),
    ("W" * 3000, b"\x1f\x8b\x08\x00" + bytes(range(256))),
)
