"""``python -m streamops.demo.watchdog DIRECTORY COMMAND...``: a server that cannot outlive the demo.

Standard input is the read end of a pipe whose write end only the demo holds. The kernel closes that end
however the demo ends, ``kill -9`` included; this process then stops the server and removes its directory.
It works wherever there are pipes, and adds no window in which a server runs unwatched.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading

STOP_SECONDS = 5.0


def main() -> int:
    """Run the command until it ends or standard input does; its exit code."""
    directory, *command = sys.argv[1:]
    try:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: server.terminate())
        threading.Thread(target=_stop_at_end_of_input, args=[server], daemon=True).start()
        return server.wait()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _stop_at_end_of_input(server: subprocess.Popen[bytes]) -> None:
    # Not through sys.stdin, whose lock this thread would still hold when the interpreter closes it.
    while os.read(0, 1024):
        pass
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())
