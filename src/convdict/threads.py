"""One pool of threads, and one setting for how many run at once.

Compiled kernels and FFTs release the GIL, so plain threads keep every core busy. All
callers share the pool: two threads that code two images at once do not oversubscribe the
machine. Work is cut into pieces that do not depend on the number of threads, so neither
do results.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from .errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

_inside = threading.local()  # set in the pool's own threads
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_n_threads: int | None = None


def _available() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def get_num_threads() -> int:
    """How many threads work at once: `CONVDICT_NUM_THREADS`, or every available core."""
    if _n_threads is not None:
        return _n_threads
    setting = os.environ.get("CONVDICT_NUM_THREADS", "").strip()
    if not setting:
        return _available()
    if not setting.isdigit() or int(setting) < 1:
        raise InputError(f"CONVDICT_NUM_THREADS is {setting!r}: give a positive whole number")
    return int(setting)


def set_num_threads(n: int) -> None:
    """Let `n` threads work at once, in this process, from now on."""
    global _pool, _n_threads
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"the number of threads is {n!r}: give a positive whole number")
    with _lock:
        _n_threads, _pool = n, None  # the old pool finishes what it has, then goes


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                get_num_threads(), thread_name_prefix="convdict", initializer=_mark_inside
            )
        return _pool


def _mark_inside() -> None:
    _inside.pool = True


def _forget_pool() -> None:
    """A forked child inherits the pool object but none of its threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def parallel_map(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`[work(item) for item in items]`, several at once; the first error is raised.

    Work that runs in the pool and calls this again goes on in its own thread: waiting for a
    pool from inside it could wait forever.
    """
    items = list(items)
    if len(items) < 2 or get_num_threads() == 1 or getattr(_inside, "pool", False):
        return [work(item) for item in items]
    return list(_shared_pool().map(work, items))
