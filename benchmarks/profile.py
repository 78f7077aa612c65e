"""Stage `profile`: where the time of one image goes, and what the processor could do at best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import convdict as cd
from convdict.coding import sparse_code as door
from convdict.coding import working_set
from convdict.kernels.compile import kernel
from convdict.kernels.descent import inner, subtract
from convdict.kernels.geometry import padded_rows
from convdict.kernels.lanes import fused, load, splat, store
from convdict.model import scan

from .datasets import photographs
from .dictionaries import load as load_dictionary
from .results import Results
from .settings import Settings
from .timing import say

STAGES = [  # what is timed, where its name is looked up, and what is written for it
    (door, "pose", "checks and conversion"),
    (working_set._Run, "__init__", "preparation"),
    (scan.Scan, "first", "scans"),
    (scan.Scan, "again", "further looks"),
    (working_set._Run, "select", "selection"),
    (working_set._Run, "descend", "descent"),
    (working_set._Run, "triplets", "collection of the codes"),
    (door, "certify", "certificate in float64"),
]


@kernel
def _multiply_add(rounds: int, seed: Any, out: Any, lanes: int) -> None:
    """Sixteen independent chains of fused multiply-adds: as many as a processor can start."""
    x = splat(seed)
    a = b = c = d = e = f = g = h = i = j = k = m = n = o = p = q = x
    for _ in range(rounds):
        a, b, c, d = fused(a, x, x), fused(b, x, x), fused(c, x, x), fused(d, x, x)
        e, f, g, h = fused(e, x, x), fused(f, x, x), fused(g, x, x), fused(h, x, x)
        i, j, k, m = fused(i, x, x), fused(j, x, x), fused(k, x, x), fused(m, x, x)
        n, o, p, q = fused(n, x, x), fused(o, x, x), fused(p, x, x), fused(q, x, x)
    for v, w in enumerate((a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q)):
        store(out, v * lanes, w)


@kernel
def _visits(buffer: Any, chunks: Any, rows: Any, lanes: int, which: Any, at: Any, out: Any) -> None:
    for a in range(at.size):
        out[a] = inner(buffer, chunks, rows, lanes, which[a], at[a])


@kernel
def _updates(buffer: Any, chunks: Any, rows: Any, lanes: int, which: Any, at: Any, by: Any) -> None:
    for a in range(at.size):
        subtract(buffer, chunks, rows, lanes, which[a], at[a], by)


@kernel
def _stream(a: Any, b: Any, lanes: int) -> None:
    for i in range(0, a.size, lanes):
        store(b, i, load(a, i))


def run(settings: Settings, stage: dict, results: Results) -> None:
    d = load_dictionary(settings.dictionary)
    stage["machine_limits"] = limits()
    stage["rows"] = []
    for photo in photographs(settings.photos, n=settings.n_images, size=settings.size):
        for threads in sorted({1, settings.cores}):
            cd.set_num_threads(threads)
            row = {"image": photo.name, "threads": threads}
            row |= profile(photo.s, d, settings.penalty, settings.certificate)
            stage["rows"].append(row)
        results.save()
        say(f"profile: {photo.name}: {row['seconds']}")
    cd.set_num_threads(settings.cores)


def profile(s: np.ndarray, d: np.ndarray, penalty: float, tol: float) -> dict:
    """Median seconds of every stage over a few runs, each stage without those inside it."""
    runs = []
    for _ in range(6):
        clock = _Clock()
        with clock:
            codes = cd.sparse_code(s, d, penalty, tol=tol)
        runs.append(clock)
    runs = runs[1:]
    seconds = {k: median(r.seconds[k] for r in runs) for k in runs[0].seconds}
    return {
        "seconds": {k: round(v, 5) for k, v in seconds.items()},
        "calls": dict(runs[0].calls),
        "rounds": codes.n_iter,
        "nnz": codes.nnz,
        "scan_gfma_per_second": round(_scan_work(s, d) / _per_scan(runs), 1),
    }


class _Clock:
    """While it runs, the stages of `sparse_code` are timed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._inside: list[float] = []
        self._undo: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        for owner, name, label in STAGES:
            plain = getattr(owner, name)
            setattr(owner, name, self._timed(plain, label))
            self._undo.append(lambda o=owner, n=name, p=plain: setattr(o, n, p))
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        total = perf_counter() - self._start
        for undo in self._undo:
            undo()
        self.seconds["everything else"] = total - sum(self.seconds.values())
        self.seconds["total"] = total

    def _timed(self, work: Callable, label: str) -> Callable:
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            self._inside.append(0.0)
            try:
                return work(*args, **kwargs)
            finally:
                spent = perf_counter() - start
                self.seconds[label] += spent - self._inside.pop()
                self.calls[label] += 1
                if self._inside:
                    self._inside[-1] += spent

        return timed


def _scan_work(s: np.ndarray, d: np.ndarray) -> float:
    return s.size * d.size / 1e9


def _per_scan(runs: list[_Clock]) -> float:
    """Seconds of the one full scan."""
    return median(r.seconds["scans"] / r.calls["scans"] for r in runs)


def limits() -> dict:
    """What one core does at best: multiply-adds, visits, updates, streams from the caches."""
    rng = np.random.default_rng(0)
    lanes, size, taps = 16, 64, 12
    found = {}
    out = np.zeros(16 * lanes, np.float32)
    rounds = 2_000_000
    each = _best(lambda: _multiply_add(rounds, np.float32(0.5), out, lanes))
    found["gfma_per_second"] = round(rounds * 16 * lanes / each / 1e9, 1)
    row = size + lanes
    buffer = rng.standard_normal((size + taps) * row + 4 * lanes).astype(np.float32)
    chunks = np.arange(taps) * row
    kernels = rng.standard_normal((64, 1, 1, taps, taps)).astype(np.float32)
    rows = padded_rows(kernels).reshape(-1)
    n = 600  # in a tile of 64×64: what a detailed photograph has
    which = rng.integers(0, 64, n).astype(np.int32)
    at = np.sort(rng.integers(0, size, n) * row + rng.integers(0, size, n)).astype(np.int32)
    told = np.empty(n, np.float32)
    patch = buffer, chunks, rows, lanes, which, at
    nanoseconds = 1e9 / n
    found["visit_ns"] = round(_best(lambda: _visits(*patch, told)) * nanoseconds, 1)
    little = np.float32(1e-9)
    found["update_ns"] = round(_best(lambda: _updates(*patch, little)) * nanoseconds, 1)
    for name, count in (("L1", 4096), ("L2", 65536), ("memory", 2**26)):
        a, b = np.ones((2, count), np.float32)
        seconds = _best(lambda a=a, b=b: _stream(a, b, lanes))
        found[f"copy_{name}_gb_per_second"] = round(8 * count / seconds / 1e9, 1)
    return found


def _best(work: Callable[[], Any], repeats: int = 9) -> float:
    """The least of a few runs: a limit of the processor, not of the moment."""
    work()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)
