"""What stands in for the poller where a recording is played: it delivers scenes at the recorded pace."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message

from streamops.errors import RecordingError
from streamops.operate.recording.frames import RecordedContext, RecordedLoss
from streamops.operate.recording.recording import Recording, Scene
from streamops.tui.moment import Loss
from streamops.tui.pace import Pace
from streamops.tui.poller import Connected
from streamops.tui.source import ContextInfo
from streamops.tui.tape import SPEEDS, Tape
from streamops.tui.unrecorded import unrecorded

LEAST: Final = 0.25
"""Seconds from one scene to the next, however fast it plays: nobody reads more, and every one is drawn."""


class Played(Message):
    """A scene of a recording.

    Attributes:
        context: Where it was observed.
        scene: What was to be seen.
        arrived: When its observation was new, as if that were on this machine's monotonic clock.
        tape: Where in the recording this is.
    """

    def __init__(self, context: ContextInfo, scene: Scene, arrived: float, tape: Tape) -> None:
        super().__init__()
        self.context = context
        self.scene = scene
        self.arrived = arrived
        self.tape = tape

    @property
    def loss(self) -> Loss | None:
        """Why there was no newer observation."""
        loss = self.scene.loss
        return None if loss is None else Loss(loss.message, loss.hint, None)


class Where(Struct, frozen=True):
    """Which frame is shown, and how it goes on."""

    number: int = 0
    speed: int = SPEEDS.index(1)
    paused: bool = False


class Player:
    """Plays a recording.

    Args:
        recording: The recording; closed at the end.
        deliver: Takes the messages.
    """

    def __init__(self, recording: Recording, deliver: Callable[[Message], object]) -> None:
        self._recording = recording
        self._deliver = deliver
        self._where = Where()
        self._wake = asyncio.Event()
        self._last = Scene(RecordedContext("", "", ""), None, None)

    # -- as a poller ---------------------------------------------------------------------------------

    @property
    def pace(self) -> Pace:
        """None: the recording has its own."""
        return Pace(None, None)

    def choose(self, every: timedelta | None) -> Pace:
        """Nothing: speed is chosen by other keys."""
        del every
        return self.pace

    def focus(self, *, focused: bool) -> Pace:
        """Nothing: it costs nobody anything."""
        del focused
        return self.pace

    def poll_now(self) -> None:
        """Show the scene again."""
        self._wake.set()

    async def run(self) -> None:
        """Play until cancelled, then close the recording."""
        try:
            self._deliver(Connected((await self._scene()).context.name, unrecorded()))
            while True:
                self._wake.clear()
                await self._show()
                await self._wait()
        finally:
            self._recording.close()

    # -- what the person says ------------------------------------------------------------------------

    def pause(self) -> None:
        """Stop, or go on; from the beginning where it was at the end."""
        if self._is_last:
            self._go(Where(0, self._where.speed))
        else:
            self._go(replace(self._where, paused=not self._where.paused))

    def step(self, frames: int) -> None:
        """Stop, and go some frames on, or back."""
        self._go(replace(self._where, number=self._where.number + frames, paused=True))

    def jump(self, span: timedelta) -> None:
        """Go some time on, or back, and at least one frame."""
        number = self._where.number
        to = self._recording.at(self._recording.elapsed(number) + span)
        at_least = number + (1 if span > timedelta(0) else -1)
        self._go(replace(self._where, number=max(to, at_least) if to >= number else min(to, at_least)))

    def change_speed(self, steps: int) -> None:
        """Play faster, or slower."""
        self._go(replace(self._where, speed=min(max(self._where.speed + steps, 0), len(SPEEDS) - 1)))

    def _go(self, where: Where) -> None:
        self._where = replace(where, number=min(max(where.number, 0), len(self._recording) - 1))
        self._wake.set()

    # -- inside --------------------------------------------------------------------------------------

    @property
    def _is_last(self) -> bool:
        return self._where.number >= len(self._recording) - 1

    async def _scene(self) -> Scene:
        """The scene of now; where it cannot be read, the last one with the reason."""
        try:
            self._last = await asyncio.to_thread(self._recording.read, self._where.number)
        except RecordingError as error:
            self._where = replace(self._where, paused=True)
            return replace(self._last, loss=RecordedLoss(error.message, error.hint))
        return self._last

    async def _show(self) -> None:
        scene = await self._scene()
        context = ContextInfo(
            scene.context.name, scene.context.environment, scene.context.address, read_only=True
        )
        self._deliver(Played(context, scene, monotonic() - scene.age.total_seconds(), self._tape()))

    def _tape(self) -> Tape:
        where, recording = self._where, self._recording
        return Tape(
            time=recording.time(where.number),
            number=where.number,
            frames=len(recording),
            speed=SPEEDS[where.speed],
            paused=where.paused,
            problem=recording.problem,
        )

    async def _wait(self) -> None:
        """Wait for the next frame, or for the person."""
        where, recording = self._where, self._recording
        if where.paused or self._is_last:
            await self._wake.wait()
            return
        now, speed = recording.elapsed(where.number), SPEEDS[where.speed]
        seconds = max((recording.elapsed(where.number + 1) - now).total_seconds() / speed, LEAST)
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            due = recording.at(now + timedelta(seconds=seconds * speed))
            self._where = replace(where, number=max(where.number + 1, due))
