"""What a handler is given that is made for each call of it, and cleaned up before its entry is settled."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Annotated, Any, Final, get_args, get_origin

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.runtime.codec import is_plain
from streamops.runtime.entry import Entry

Function = Callable[..., Any]
Run = Callable[[Sequence[Entry], list[Any]], Awaitable[Any]]
"""Calls a handler's function for entries, with its arguments."""

InThread = Callable[[Sequence[Entry], Function, list[Any]], Awaitable[Any]]
UNDECIDED: Final = object()
"""Stands for the application's state before there is any."""

ENTRY, STATE = 0, 1
"""Places of what is there before any dependency."""


class Depends(Struct, frozen=True):
    """Says in a parameter's type what makes its value, once for each call: ``Annotated[Session, Depends(open_session)]``.

    Args:
        function: A function or a generator with one yield, async or not, or a class. It takes the entry (of a handler of batches
            ``list[Entry]``), what the application's lifespan yields, and other dependencies. What the handler raises is raised at
            the yield too, ``Skip`` and ``RetryLater`` among it. The entry is settled after the code that follows the yield: if
            that raises, the handler has failed.
    """

    function: Function


class _Provider(Struct, frozen=True):
    """One dependency: what is called, and the places of its arguments by their names."""

    function: Function
    takes: Mapping[str, int]
    is_async: bool
    cleans_up: bool


class Dependencies:
    """The dependencies of one handler, in the order in which they need each other; each is made once a call.

    Args:
        where: The handler's name, for errors.
        batch: Whether it takes lists.
        state: What the application's lifespan gave.
    """

    def __init__(self, where: str, *, batch: bool, state: object) -> None:
        self._where = where
        self._batch = batch
        self._state = state
        self._providers: list[_Provider] = []
        self._places: dict[Function, int] = {}
        self._given: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._given)

    def give(self, depends: Depends) -> None:
        """Give the handler this one as its next argument.

        Raises:
            SettingsError: It takes something that nothing provides, or itself.
        """
        self._given.append(self._place_of(depends.function, ()))

    async def call(
        self, entries: Sequence[Entry], arguments: list[Any], run: Run, in_thread: InThread | None
    ) -> Any:  # noqa: ANN401 - as the function returns
        """Call a handler's function with these arguments and, after them, its dependencies.

        Args:
            entries: The entries of the call.
            arguments: The function's other arguments.
            run: Calls the function.
            in_thread: Calls what is not async in a thread; none to call it here.
        """
        failures = list[BaseException]()
        call = _here if in_thread is None else partial(in_thread, entries)
        async with AsyncExitStack() as opened:
            try:
                values: list[Any] = [list(entries) if self._batch else entries[0], self._state]
                for provider in self._providers:
                    function = partial(
                        provider.function, **{name: values[at] for name, at in provider.takes.items()}
                    )
                    values.append(await _open(provider, function, opened, call))
                return await run(entries, [*arguments, *(values[at] for at in self._given)])
            except BaseException as error:
                failures.append(error)
                raise
        # A dependency did not raise it again. The entry has failed all the same.
        raise failures[0]

    def _place_of(self, function: Function, needed_by: tuple[Function, ...]) -> int:
        if function in needed_by:
            raise SettingsError(
                f"handler {self._where}: dependency {name_of(function)} needs itself", "Break the circle."
            )
        if function not in self._places:
            takes = {
                parameter.name: place
                for parameter in self._signature(function).parameters.values()
                if (place := self._argument(parameter, (*needed_by, function))) is not None
            }
            self._places[function] = len(self._providers) + STATE + 1
            self._providers.append(_provider(function, takes))
        return self._places[function]

    def _signature(self, function: Function) -> inspect.Signature:
        try:
            return inspect.signature(function, eval_str=True)
        except NameError as error:
            problem = f"dependency {name_of(function)}: {error}"
            hint = "Import the type where the dependency is defined."
        except (TypeError, ValueError) as error:
            problem = f"Depends({function!r}): {error}"
            hint = "Name a function or a class, written in Python."
        raise SettingsError(f"handler {self._where}, {problem}", hint)

    def _argument(self, parameter: inspect.Parameter, needed_by: tuple[Function, ...]) -> int | None:
        """The place of an argument; none for one that has a default, and that nothing provides."""
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise SettingsError(
                f"handler {self._where}, dependency {name_of(needed_by[-1])}: its parameter {parameter.name} is positional-only",
                "Leave out the / after it: dependencies are called by name.",
            )
        kind = parameter.annotation
        if depends := depends_of(kind):
            return self._place_of(depends.function, needed_by)
        if kind == (list[Entry] if self._batch else Entry):
            return ENTRY
        if is_state(kind, self._state):
            return STATE
        if parameter.default is not parameter.empty:
            return None
        entry = "entries (list[Entry])" if self._batch else "the entry (Entry)"
        raise SettingsError(
            f"handler {self._where}, dependency {name_of(needed_by[-1])}: nothing provides its parameter {parameter.name}",
            f"A dependency takes {entry}, what a function under @app.lifespan yields, and Annotated[..., Depends(...)].",
        )


def depends_of(kind: Any) -> Depends | None:  # noqa: ANN401 - any type
    """What a type says of how its value is made; None if it says nothing."""
    said = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((each for each in said if isinstance(each, Depends)), None)


def is_state(kind: Any, state: object) -> bool:  # noqa: ANN401 - any type
    """Whether a parameter of a type takes the state; any class may, as long as that is undecided."""
    if state is UNDECIDED:
        return isinstance(kind, type) and kind not in (Entry, bytes, dict) and not is_plain(kind)
    return kind in type(state).__mro__[:-1]


def name_of(function: Function) -> str:
    """What a function is called in messages."""
    return getattr(underlying(function), "__qualname__", None) or repr(function)


def underlying(function: Function) -> Function:
    """The function itself: behind a partial one, or an object's call."""
    if isinstance(function, partial):
        return underlying(function.func)
    return function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__


def _provider(function: Function, takes: Mapping[str, int]) -> _Provider:
    called = underlying(function)
    if inspect.isasyncgenfunction(called):
        return _Provider(asynccontextmanager(function), takes, is_async=True, cleans_up=True)
    if inspect.isgeneratorfunction(called):
        return _Provider(contextmanager(function), takes, is_async=False, cleans_up=True)
    return _Provider(function, takes, is_async=inspect.iscoroutinefunction(called), cleans_up=False)


async def _here(function: Function, arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
    return function(*arguments)


async def _open(
    provider: _Provider,
    function: Function,
    opened: AsyncExitStack,
    call: Callable[[Function, list[Any]], Awaitable[Any]],
) -> Any:  # noqa: ANN401 - as the function returns
    """The value of a dependency; what cleans up is noted."""
    if provider.is_async:
        return await (opened.enter_async_context(function()) if provider.cleans_up else function())
    if not provider.cleans_up:
        return await call(function, [])
    manager = function()
    value = await call(manager.__enter__, [])
    opened.push_async_exit(lambda *error: call(manager.__exit__, [*error]))
    return value
