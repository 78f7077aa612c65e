"""How kernels are compiled: once, without the GIL, and kept on disk."""

from __future__ import annotations

import gc
import getpass
import logging
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba

logger = logging.getLogger("convdict")

PATIENCE = 1.0  # seconds of silence before a long compilation is announced


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use and cache the result beside the package or in the user's cache."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write its cache to
        folder = private_folder()
        if folder is None:
            return numba.njit(**options)(function)
        numba.config.CACHE_DIR = folder
        return numba.njit(cache=True, **options)(function)


def private_folder() -> str | None:
    """A folder among the temporary ones that nobody else can have filled, or None."""
    name = f"convdict-kernels-{getpass.getuser() if os.name == 'nt' else os.getuid()}"
    folder = os.path.join(tempfile.gettempdir(), name)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    ours = os.name == "nt" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return folder if ours and stat.S_ISDIR(found.st_mode) else None


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say what is going on, should it take long enough for somebody to wonder."""
    timer = threading.Timer(PATIENCE, logger.warning, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def undivided() -> Iterator[None]:
    """Without collecting garbage: compiling makes a lot of it, and looking takes a tenth longer."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
