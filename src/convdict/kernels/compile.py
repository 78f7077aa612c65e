"""How kernels are compiled: once, without the GIL, and kept on disk."""

from __future__ import annotations

import logging
import os
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
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write its cache to
        numba.config.CACHE_DIR = os.path.join(tempfile.gettempdir(), "convdict-kernels")
        return numba.njit(cache=True, **options)(function)


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
