"""The part of the console that acts: it opens forms and plans, and owns what is being done."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType

from streamops.present.text import safe
from streamops.tui import places
from streamops.tui.deed import Deed
from streamops.tui.places import Place
from streamops.tui.screens.frame import Frame
from streamops.tui.subjects import KEYS, Subject, queue_of, verb_of
from streamops.tui.viewing_app import ViewingApp

if TYPE_CHECKING:  # Only who acts pays for the engine and for the screens of acting.
    from streamops.tui.acting.asks import Planning
    from streamops.tui.acting.doing import Doing
    from streamops.tui.acting.messages import Apply, LeavePlan, ShowPlan, StopDeed, UndoAction


TWINS: Final[Mapping[type[Place], tuple[type[Place], ...]]] = {
    places.DeadLetters: (places.Jobs,),
    places.Jobs: (places.DeadLetters,),
    places.Workers: (places.Pools,),
    places.Pools: (places.Workers,),
}
"""Places of one key: each opens in the place of the other."""


class ActingApp(ViewingApp):
    """An app whose capitals open plans."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"act({key!r})", "plan", show=False, id=f"plan.{key}") for key in KEYS),
        Binding("at,7", "audit", "audit log", show=False, id="audit"),
        Binding("4", "letters_or_jobs", "dead letters, jobs", show=False, id="dead_letters"),
        Binding("5", "workers_or_pools", "workers, pools", show=False, id="workers"),
        Binding("d", "letters_of", "its dead letters", show=False, id="letters_of"),
    ]
    _doing: "Doing | None" = None
    _leaving = False

    # -- keys ----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A capital is a key only where it means something, and plans may be made."""
        if action == "act":
            return self.may_plan and verb_of(str(parameters[0]), self.frame.subject()) is not None
        return super().check_action(action, parameters)

    @property
    def read_only(self) -> bool:
        """Whether nothing may be changed here. The engine refuses too."""
        return self.moment.read_only

    @property
    def may_plan(self) -> bool:
        """Whether plans may be made, if only to be looked at."""
        return not self.read_only or self.moment.context.shows_plans

    def action_act(self, key: str) -> None:
        """Open the form of what a key does to what the cursor is on."""
        subject = self.frame.subject()
        verb = verb_of(key, subject)
        if verb is not None:
            self.open_form(verb.operation, subject, edits=verb.edits)

    def action_audit(self) -> None:
        """Show what was done."""
        self.go(places.Audit())

    def action_jobs(self) -> None:
        """Show long work."""
        self._beside(places.Jobs())

    def action_dead_letters(self) -> None:
        """Show dead letters."""
        self._beside(places.DeadLetters())

    def action_letters_or_jobs(self) -> None:
        """Show dead letters; from there, long work: replaying is most of it."""
        at_letters = isinstance(self.frame.place, places.DeadLetters)
        self._beside(places.Jobs() if at_letters else places.DeadLetters())

    def action_letters_of(self) -> None:
        """Show the dead letters of the stream under the cursor."""
        stream = self.frame.stream_name()
        if stream is None:
            return
        if (queue := queue_of(self.moment.observation, stream)) is None:
            self.say(f"no dead-letter queue of {stream} is known")
        else:
            self.go(places.Letters(queue))

    def action_workers(self) -> None:
        """Show worker processes and their pools."""
        self._beside(places.Workers())

    def action_pools(self) -> None:
        """Show how many workers each pool has, and why."""
        self._beside(places.Pools())

    def action_workers_or_pools(self) -> None:
        """Show worker processes; from there, how their pools are scaled."""
        self._beside(places.Pools() if isinstance(self.frame.place, places.Workers) else places.Workers())

    def action_delayed(self) -> None:
        """Show queues of delayed messages."""
        self.go(places.DelayedQueues())

    def action_topics(self) -> None:
        """Show topics of HTTP callbacks."""
        self.go(places.Topics())

    def _beside(self, place: Place) -> None:
        """Open one of the two places of one key, in the place of the other where that is on top."""
        from streamops.tui.screens.acting import ActingFrame  # noqa: PLC0415 - see above

        frame = self.frame
        is_other = type(frame.place) in TWINS.get(type(place), ())
        if is_other and not isinstance(frame, ActingFrame):
            self.pop_screen()
        self.go(place)

    def go(self, place: Place) -> None:
        """Open a place on top; a job of this console as the plan that it carries out."""
        if isinstance(place, places.OneJob) and (deed := self.deed_of(place.id)) is not None:
            self.open_plan(deed.plan.operation, None, deed)
        else:
            super().go(place)

    def open_form(self, operation: str, subject: Subject | None, *, edits: bool = False) -> None:
        """Open the form of an operation, filled in from what the cursor is on.

        Args:
            operation: Its name.
            subject: What the cursor is on.
            edits: Ask for the fields of the letters too.
        """
        from streamops.tui.acting.backups import backup_for  # noqa: PLC0415 - see above
        from streamops.tui.acting.offers import operation_named  # noqa: PLC0415 - see above
        from streamops.tui.screens.form import FormScreen  # noqa: PLC0415 - see above

        if (found := operation_named(operation)) is None:
            self.say(f"this version cannot {operation}", warning=True)
            return
        if edits and subject is not None:
            from streamops.tui.screens.edit_form import EditFormScreen  # noqa: PLC0415 - see above

            self.push_screen(EditFormScreen(self.frame.place, self.moment, found, subject))
            return
        self.push_screen(
            FormScreen(
                self.frame.place,
                self.moment,
                found,
                subject,
                backup_for(operation, found.intent, subject),
            )
        )

    def open_plan(self, title: str, planning: "Planning | None", deed: Deed | None = None) -> None:
        """Open a plan, to be made or under way."""
        from streamops.tui.screens.plan import PlanScreen  # noqa: PLC0415 - see above

        self.push_screen(PlanScreen(self.frame.place, self.moment, title, planning, deed))

    # -- what screens ask for ------------------------------------------------------------------------

    def on_show_plan(self, message: "ShowPlan") -> None:
        """Make a plan and show it; a job of this console is shown as it runs."""
        self.open_plan(message.title, message.planning)

    def on_apply(self, message: "Apply") -> None:
        """Do what a plan says, in a task of its own."""
        from streamops.tui.acting.doing import Doing  # noqa: PLC0415 - see above

        source = self.live.source
        if source is None or self._leaving or self.moment.stranger is not None:
            self.say(self._why_not(), warning=True)
            return
        self._doing = self._doing or Doing(self._take_deeds)
        number = self._doing.begin(message.prepared)
        message.begun(number)
        self.run_worker(self._doing.carry_out(number, message.assent, source), exit_on_error=False)

    def _why_not(self) -> str:
        if self._leaving:
            return "leaving: nothing was done"
        if self.moment.stranger is not None:
            return "another server answers here: nothing was done; ^y accepts it, then make a new plan"
        return "not connected: nothing was done"

    def on_stop_deed(self, message: "StopDeed") -> None:
        """Stop what is under way, after its batch."""
        if self._doing is not None:
            self._doing.stop(message.number)

    def on_undo_action(self, message: "UndoAction") -> None:
        """Plan to take an action back."""
        from streamops.tui.acting.asks import MakePlan  # noqa: PLC0415 - see above
        from streamops.tui.acting.offers import UNDO, undoing  # noqa: PLC0415 - see above

        if self.read_only:
            self.say("read-only: nothing is changed here", warning=True)
        elif (intent := undoing(message.audit_id)) is None:
            self.say(f"this version cannot {UNDO}", warning=True)
        else:
            self.open_plan(UNDO, MakePlan(intent))

    def on_leave_plan(self, message: "LeavePlan") -> None:
        """Close the plan and the form it came from."""
        from streamops.tui.screens.acting import ActingFrame  # noqa: PLC0415 - see above

        del message
        while isinstance(self.screen, ActingFrame):
            self.pop_screen()
        self.pass_down()

    # -- what is being done --------------------------------------------------------------------------

    @property
    def running(self) -> tuple[Deed, ...]:
        """What is under way."""
        return tuple(deed for deed in self.moment.deeds if deed.running)

    def deed_of(self, job: str) -> Deed | None:
        """What this console is doing under a job's ID; none where that is somebody else's, or over."""
        return next((deed for deed in self.running if deed.job == job), None)

    def stop_before_leaving(self) -> bool:
        """Stop what is under way before the console is left; say whether that has to be waited for.

        Whoever asks a second time does not wait.
        """
        if not self.running or self._leaving or self._doing is None:
            return False
        self._leaving = True
        self._doing.stop_all()
        self.say(
            f"stopping {safe(self.running[0].name)} after its batch; once more quits at once", warning=True
        )
        return True

    def _take_deeds(self, deeds: tuple[Deed, ...]) -> None:
        before = {deed.number for deed in self.running}
        self.live.take_deeds(deeds)
        ended = [deed for deed in deeds if deed.number in before and not deed.running]
        self.pass_down()
        if ended:
            self._after(ended)

    def _after(self, ended: list[Deed]) -> None:
        """Look again at what was changed, and tell those who look elsewhere."""
        self.live.poller.poll_now()
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                self.call_later(partial(screen.acted))
        for deed in ended:
            if self._leaving and not self.running:
                self.exit(0)
            elif not self.frame.tells(deed):
                self.say(_ending(deed), warning=deed.error is not None)


def _ending(deed: Deed) -> str:
    if deed.error is not None:
        return f"{deed.name}: {deed.error.message}"
    applied = 0 if deed.outcome is None else deed.outcome.applied
    return f"{deed.name}: {applied:,} done; @ tells more"
