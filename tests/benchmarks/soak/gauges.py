"""What a soak measures of processes and of the server."""

import os
import time
from pathlib import Path

import redis
from msgspec import Struct

from tests.support.servers import RunningServer

PAGE = os.sysconf("SC_PAGE_SIZE")
MEGABYTE = 1 << 20
AUDIT = "streamops:audit"
OWN_CONNECTIONS = 2
"""Connections of whoever measures."""


class Gauge(Struct, frozen=True):
    """A series that is to stand still.

    Attributes:
        name: What it is of.
        readings: Each with its time.
        unit: The least difference that counts.
        form: How a value is printed.
    """

    name: str
    unit: float
    form: str
    readings: list[tuple[float, float]]


class Gauges:
    """The series of a soak, by their names in the order of their first readings."""

    def __init__(self) -> None:
        self.series: dict[str, Gauge] = {}

    def read_process(self, name: str, pid: int) -> None:
        """Read a process's resident memory, file descriptors and threads; nothing where it is gone."""
        at, home = time.monotonic(), Path(f"/proc/{pid}")
        try:
            resident = int((home / "statm").read_text().split()[1]) * PAGE / MEGABYTE
            files = len(list((home / "fd").iterdir()))
            threads = len(list((home / "task").iterdir()))
        except OSError:
            return
        self.note(f"{name}: resident memory", at, resident, unit=1.0, form="{:.1f} MB")
        self.note(f"{name}: file descriptors", at, files, unit=1.0)
        self.note(f"{name}: threads", at, threads, unit=1.0)

    def read_server(self, server: RunningServer) -> None:
        """Read the server's connections, keys and memory; nothing where it is away."""
        try:
            rows = server.client.info("everything")
            audit = server.client.memory_usage(AUDIT, samples=0) or 0
        except redis.RedisError:
            return
        at, keys = time.monotonic(), rows.get("db0", {})
        memory = (rows["used_memory"] - audit) / MEGABYTE
        lasting = keys.get("keys", 0) - keys.get("expires", 0)
        self.note("server: connections", at, rows["connected_clients"] - OWN_CONNECTIONS, unit=1.0)
        self.note("server: keys that do not expire", at, lasting, unit=1.0)
        self.note("server: used_memory without the audit log", at, memory, unit=0.25, form="{:.2f} MB")

    def note(self, name: str, at: float, value: float, *, unit: float, form: str = "{:.0f}") -> None:
        """Add a reading to a series."""
        gauge = self.series.setdefault(name, Gauge(name, unit, form, []))
        gauge.readings.append((at, value))
