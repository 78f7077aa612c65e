"""One pool of threads, and one setting for how many run at once.

Compiled kernels and FFTs release the GIL, so plain threads keep every core busy. Whoever
has work does it, and the pool helps: waking another thread takes as long as many a piece of
work. All callers share the pool and a number of permits: two threads that code two images at
once do not oversubscribe the machine. Work is cut into pieces that do not depend on the
number of threads, so neither do results.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from .errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

_inside = threading.local()  # set while a thread works
_lock = threading.Lock()
_pool: tuple[ThreadPoolExecutor, threading.Semaphore] | None = None
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


def _shared_pool() -> tuple[ThreadPoolExecutor, threading.Semaphore]:
    """Helpers for one caller, and as many permits to work as there may be threads working."""
    global _pool
    with _lock:
        if _pool is None:
            n = get_num_threads()
            helpers = ThreadPoolExecutor(max(n - 1, 1), thread_name_prefix="convdict")
            _pool = helpers, threading.Semaphore(n)
        return _pool


def _forget_pool() -> None:
    """A forked child inherits the pool object but none of its threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def parallel_map(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`[work(item) for item in items]`, several at once; an error is raised.

    Work that calls this again goes on in its own thread, for it has its permit already.
    """
    items = list(items)
    n = min(len(items), get_num_threads())
    if n < 2 or getattr(_inside, "work", False):
        return [work(item) for item in items]
    todo = deque(enumerate(items))
    done: dict[int, Result] = {}

    def take_part() -> None:
        _inside.work = True
        try:
            while todo:
                try:
                    i, item = todo.popleft()
                except IndexError:  # somebody was faster
                    break
                done[i] = work(item)
        finally:
            _inside.work = False

    def help_out() -> None:
        if permits.acquire(blocking=False):
            try:
                take_part()
            finally:
                permits.release()

    pool, permits = _shared_pool()
    with permits:
        helpers = [pool.submit(help_out) for _ in range(n - 1)]
        try:
            take_part()
        finally:
            todo.clear()  # after an error nobody need go on
            started = [helper for helper in helpers if not helper.cancel()]
            wait(started)
    for helper in started:
        helper.result()
    return [done[i] for i in range(len(items))]
