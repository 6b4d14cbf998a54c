"""Clocks that somebody sets: those of worker processes, and the server's own where it can be done."""

import mmap
import shlex
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tests.support.programs import ServerProgram

LEAP = signal.SIGUSR1
"""Told to a process, its clock leaps."""

LEAPS = (-86_400.0, -30.0, -1.0, 1.0, 30.0, 3_600.0, 400 * 86_400.0)

SHIM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile double *offset;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("STREAMOPS_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    void *shared = file < 0 ? MAP_FAILED : mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) offset = shared;
}

int clock_gettime(clockid_t id, struct timespec *told) {
    int failed = syscall(SYS_clock_gettime, id, told);
    if (!failed && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        long long all = told->tv_sec * 1000000000LL + told->tv_nsec + (long long)(*offset * 1e9);
        told->tv_sec = all / 1000000000LL;
        told->tv_nsec = all % 1000000000LL;
    }
    return failed;
}

int gettimeofday(struct timeval *told, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
"""
"""Stands before the C library's clocks; how far they are off is read from a file."""


def install_clock(seed: int) -> None:
    """Have this process see a clock that somebody sets, to begin with and whenever it is told to."""
    random, real_ns = Random(seed), time.time_ns
    offset = random.choice((0.0, *LEAPS))

    def leap(*_: object) -> None:
        nonlocal offset
        offset = random.choice(LEAPS)

    vars(time)["time"] = lambda: real_ns() / 1e9 + offset
    vars(time)["time_ns"] = lambda: real_ns() + int(offset * 1e9)
    signal.signal(LEAP, leap)


class ServerClock:
    """A clock that a server's process takes for the machine's.

    Attributes:
        offset: How many seconds it is off.
    """

    def __init__(self, directory: Path) -> None:
        self.offset = 0.0
        self._file = directory / "offset"
        self._file.write_bytes(struct.pack("d", 0.0))

    def leap(self, seconds: float) -> None:
        """Set it forward, or back."""
        self.offset += seconds
        with self._file.open("r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
            shared[:] = struct.pack("d", self.offset)


def can_be_set() -> bool:
    """Whether this machine has what it takes to set a server's clock: a C compiler."""
    return shutil.which("cc") is not None


def wrapped(program: ServerProgram, directory: Path, *, clock: bool) -> ServerProgram:
    """A server that survives a limit to its files' size, and whose clock can be set where that is wanted."""
    wrapper = directory / "server"
    preload = ""
    if clock:
        shim = directory / "clock.so"
        (directory / "clock.c").write_text(SHIM)
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", shim, directory / "clock.c"],  # noqa: S607 - whichever there is
            check=True,
        )
        preload = f"export LD_PRELOAD={shlex.quote(str(shim))}"
        preload += f" STREAMOPS_TEST_CLOCK={shlex.quote(str(directory / 'offset'))}\n"
    # Beyond the limit a write is to fail, and not to end the process; what is ignored stays so.
    wrapper.write_text(f'#!/bin/sh\ntrap "" XFSZ\n{preload}exec {shlex.quote(str(program.path))} "$@"\n')
    wrapper.chmod(program.path.stat().st_mode | 0o111)
    return replace(program, path=wrapper)
