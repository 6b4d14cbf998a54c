"""Telling systemd how things stand: the datagrams of sd_notify(3), without a library for them."""

import os
import socket
import time
from contextlib import suppress


def notify(*states: str) -> None:
    """Send states such as ``READY=1``; nothing happens where no service manager listens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # An abstract socket's name begins with a zero byte, which systemd writes as "@".
    place = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
        telling.sendto("\n".join(states).encode(), place)


def reloading() -> None:
    """Say that a reload has begun."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def watchdog_seconds() -> float | None:
    """How often systemd wants a sign of life, halved; none where it does not."""
    text = os.environ.get("WATCHDOG_USEC", "")
    return int(text) / 2e6 if text.isdigit() and int(text) else None
