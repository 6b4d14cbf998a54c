"""What the console tells its recording. Only who records pays for this."""

from typing import Final

from streamops.model.observation import Observation
from streamops.operate.recording.frames import RecordedContext, RecordedLoss
from streamops.operate.recording.recorder import Recorder
from streamops.present.units import size
from streamops.tui.source import ContextInfo

FULL: Final = "full"


class RecordingKeeper:
    """Passes on what is observed.

    Args:
        recorder: Where to; somebody else closes it.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def observed(self, context: ContextInfo, observation: Observation) -> None:
        """Record an observation."""
        self._recorder.take(_recorded(context), observation)

    def lost(self, context: ContextInfo, message: str, hint: str) -> None:
        """Record why there is none."""
        self._recorder.take(_recorded(context), RecordedLoss(message, hint))

    @property
    def words(self) -> str:
        """How the recording goes, for the status line."""
        state = self._recorder.state
        if state.problem == FULL:
            return f"✗ recording ended: {size(state.size)} (--record-max)"
        if state.problem:
            return f"✗ recording ended: {state.problem}"
        skipped = f", {state.skipped} skipped: slow disk" if state.skipped else ""
        return f"● rec {size(state.size)}{skipped}"


def _recorded(context: ContextInfo) -> RecordedContext:
    return RecordedContext(context.name, context.environment, context.address)
