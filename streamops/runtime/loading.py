"""Finding an application by its name: ``package.module:app``."""

import importlib
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from streamops.errors import SettingsError, StreamopsError
from streamops.runtime.app import Streamops
from streamops.runtime.retry import raised_at

_OURS: Final = Path(__file__).resolve().parents[1]


def load_app(name: str) -> Streamops:
    """Import an application; the current directory is searched first while this lasts, and last afterwards.

    So what the application imports as it runs is found, and what we import then is not taken from that directory.

    Args:
        name: ``package.module:attribute``; ``app`` where there is no attribute.

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
    """Search a directory for modules, before all others while this lasts; one that is searched anyway stays where it is."""
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
