"""One pool of threads, and one setting for how many run at once.

Compiled kernels and FFTs release the GIL, so plain threads keep every core busy. Whoever
has work does it, and the pool helps: waking another thread takes as long as many a piece of
work. All callers share the pool and a number of permits: two threads that code two images at
once do not oversubscribe the machine. Work is cut into pieces that do not depend on the
number of threads, so neither do results.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Generic, TypeVar

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
    """`[work(item) for item in items]`, several at once; the first error is raised.

    Work that calls this again goes on in its own thread, for it has its permit already.
    """
    items = list(items)
    n = min(len(items), get_num_threads())
    if n < 2 or getattr(_inside, "work", False):
        return [work(item) for item in items]
    job = _Job(work, items)
    pool, permits = _shared_pool()
    for _ in range(n - 1):
        pool.submit(job.take_part, permits)
    job.take_part(permits)
    return job.results()


def undisturbed(work: Callable[[], Result]) -> Result:
    """`work()`, to its end even if Ctrl-C comes meanwhile; it is heard afterwards.

    Only the main thread is ever interrupted. Nothing waits for another one to do the work: a
    wait that is interrupted may take the other for done.
    """
    hear = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(hear):
        return work()
    heard: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *told: heard.append(told))
    try:
        return work()
    finally:
        signal.signal(signal.SIGINT, hear)
        if heard:
            hear(*heard[0])


class _Job(Generic[Item, Result]):
    """Items that several threads take, one after another, until none is left."""

    def __init__(self, work: Callable[[Item], Result], items: list[Item]) -> None:
        self._work, self._n = work, len(items)
        self._todo = deque(enumerate(items))
        self._done: dict[int, Result] = {}
        self._failed: dict[int, BaseException] = {}
        self._dropped: dict[int, Item] = {}  # after a failure nobody waits for the rest
        self._finished = threading.Event()

    def take_part(self, permits: threading.Semaphore) -> None:
        """Do items like others, and know that this thread has its permit."""
        if not self._todo:
            return
        with permits:
            _inside.work = True
            try:
                self.run_all()
            finally:
                _inside.work = False

    def run_all(self) -> None:
        """Do items until none is left."""
        while self._todo:
            try:
                i, item = self._todo.popleft()
            except IndexError:  # somebody was faster
                break
            try:
                self._done[i] = self._work(item)
            except BaseException as error:  # raised where the results are wanted
                self._failed[i] = error
                self._drop_the_rest()
            if len(self._done) + len(self._failed) + len(self._dropped) == self._n:
                self._finished.set()

    def _drop_the_rest(self) -> None:
        while self._todo:
            with suppress(IndexError):  # somebody was faster
                self._dropped.update([self._todo.popleft()])

    def results(self) -> list[Result]:
        self._finished.wait()
        if self._failed:
            raise self._failed[min(self._failed)]
        return [self._done[i] for i in range(self._n)]
