"""What a worker process begins with: the application, by its name ``package.module:app``, and the log of what happens in it."""

import importlib
import logging
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import structlog

from streamops.errors import SettingsError, StreamopsError
from streamops.runtime.app import Streamops
from streamops.runtime.events import (
    Abandoned,
    Adopted,
    BacklogSkipped,
    ConsumerRemoved,
    DeadLettered,
    DelayedDeadLettered,
    DelayedForeign,
    DelayedRefused,
    DelayedStrays,
    Duplicate,
    Event,
    Events,
    GroupRestored,
    HookFailed,
    Lost,
    NotHandled,
    Overran,
    Reclaimed,
    Retried,
    Stuck,
    Troubled,
)
from streamops.runtime.retry import raised_at

_OURS: Final = Path(__file__).resolve().parents[1]


def load_app(name: str) -> Streamops:
    """Import an application; the current directory is searched first while this lasts, and last afterwards.

    So what the application imports as it runs is found, and what we import then is not taken from that directory.

    Args:
        name: ``package.module:attribute``; ``app`` if there is no attribute.

    Raises:
        SettingsError: There is no such module or attribute, importing it failed, or it is something else.
    """
    module_name, _, attribute = name.partition(":")
    attribute = attribute or "app"
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise SettingsError(
            f"{name} names no application", "Write package.module:app, as it would be imported."
        )
    with _searched(str(Path.cwd())):
        module = _import(module_name)
    found: object = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SettingsError(
                f"{module_name} has no {attribute}", f"Name the Streamops in it: {module_name}:app."
            )
        found = getattr(found, part)
    if not isinstance(found, Streamops):
        raise SettingsError(
            f"{name} is a {type(found).__name__}, no application", "Name the object made by Streamops(...)."
        )
    return found


def application_directories() -> tuple[str, ...]:
    """The directories of the modules that are imported and neither installed nor part of Python or streamops."""
    others = {Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")), _OURS}
    files = (getattr(module, "__file__", None) for module in sys.modules.copy().values())
    found = {Path(file).resolve().parent for file in files if file}
    return tuple(
        sorted(
            str(one)
            for one in found
            if not any(one.is_relative_to(other) for other in others) and "site-packages" not in one.parts
        )
    )


@contextmanager
def _searched(directory: str) -> Iterator[None]:
    """Search a directory for modules, before all others while this lasts; one that is searched anyway stays if it is."""
    if directory in sys.path:
        yield
        return
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        # An application may have taken it out itself.
        with suppress(ValueError):
            sys.path.remove(directory)
            sys.path.append(directory)


def _import(module_name: str) -> object:
    try:
        return importlib.import_module(module_name)
    except StreamopsError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise SettingsError(
                f"there is no module {module_name}", "Run it from the directory that holds it, or install it."
            ) from None
        raise SettingsError(
            f"{module_name} does not import: {error}", f"Needed at {raised_at(error)}."
        ) from None
    except Exception as error:  # noqa: BLE001 - a module may raise anything while it is imported
        raise SettingsError(
            f"{module_name} does not import: {type(error).__name__}: {error}",
            f"Raised at {raised_at(error)}.",
        ) from None


LEVELS: Final[dict[type[Event], tuple[int, str]]] = {
    Retried: (logging.WARNING, "handler failed, entry is tried again"),
    DeadLettered: (logging.ERROR, "entry given up"),
    HookFailed: (logging.ERROR, "failure hook raised"),
    Duplicate: (logging.INFO, "duplicate acknowledged"),
    NotHandled: (logging.WARNING, "entry read with noack was not handled"),
    Lost: (logging.ERROR, "entry was deleted while it was pending"),
    Stuck: (logging.ERROR, "entry can neither be handled nor given up"),
    Reclaimed: (logging.INFO, "entries taken over"),
    Adopted: (logging.WARNING, "entries adopted whose delivery was lost"),
    ConsumerRemoved: (logging.INFO, "dead consumer removed"),
    BacklogSkipped: (
        logging.WARNING,
        'group is new and is not given what the stream had before; start="all" would begin with it',
    ),
    GroupRestored: (logging.WARNING, "group was gone and has been created again"),
    Troubled: (logging.WARNING, "server cannot be asked"),
    Overran: (logging.WARNING, "leases ran out, others took entries over"),
    Abandoned: (logging.ERROR, "handler does not end, its entry stays pending"),
    DelayedDeadLettered: (logging.ERROR, "delayed message given up"),
    DelayedRefused: (logging.WARNING, "delayed messages cannot be moved"),
    DelayedForeign: (
        logging.WARNING,
        "the delayed queue has members that are no delayed messages; they stay untouched",
    ),
    DelayedStrays: (logging.WARNING, "bodies of delayed messages that their queue does not name"),
}


def log_events(events: Events) -> None:
    """Have every event of note logged."""
    logger = structlog.get_logger("streamops")

    def write(event: Event) -> None:
        known = LEVELS.get(type(event))
        if known is not None:
            level, words = known
            logger.log(level, words, **{name: _plain(value) for name, value in _items(event)})

    for kind in LEVELS:
        events.on(kind, write)


def _items(event: Event) -> list[tuple[str, Any]]:
    return [(name, getattr(event, name)) for name in event.__struct_fields__]


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever an event says
    return value if isinstance(value, (str, int, float)) else str(value)
