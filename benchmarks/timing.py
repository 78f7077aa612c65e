"""Wall-clock times, taken so that a noisy machine treats everybody alike."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from .judge import Problem, judge

_began = time.perf_counter()


def say(text: str) -> None:
    print(f"[{time.perf_counter() - _began:7.1f} s] {text}", file=sys.stderr, flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()  # the rubbish of the one before is not on this one's bill
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


class Neighbours:
    """How many cores other processes kept busy meanwhile: on a shared machine, times lie."""

    def __init__(self) -> None:
        self._start = self._read()

    def busy(self) -> float | None:
        if self._start is None:
            return None
        wall, everybody, own = (
            now - then for now, then in zip(self._read(), self._start, strict=True)
        )
        return round(max(everybody - own, 0.0) / wall, 3) if wall > 0.0 else 0.0

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        try:
            ticks = [int(t) for t in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        except (OSError, ValueError):
            return None
        everybody = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # not idle
        return time.perf_counter(), everybody, time.process_time()


class Stopwatch:
    """Runs while the solver works and stands while somebody looks at its iterates."""

    def __init__(self) -> None:
        self.seconds, self._since = 0.0, time.perf_counter()

    def stop(self) -> float:
        self.seconds += time.perf_counter() - self._since
        return self.seconds

    def go(self) -> None:
        self._since = time.perf_counter()


@dataclass
class Contender:
    """Somebody who solves the problem from scratch; `run` returns codes, `read` opens them."""

    key: str
    run: Callable[[], Any]
    repeats: int
    setting: str
    read: Callable[[Any], Any] = lambda codes: codes
    seconds: list[float] = field(default_factory=list)
    judgements: list[Any] = field(default_factory=list)

    def go(self, problem: Problem) -> None:
        seconds, codes = timed(self.run)
        self.seconds.append(seconds)
        self.judgements.append(judge(problem, self.read(codes)))

    def as_json(self) -> dict:
        worst = max(self.judgements, key=lambda judgement: judgement.objective)
        return {
            "setting": self.setting,
            "seconds": self.seconds,
            "median_seconds": median(self.seconds),
            "objective": worst.objective,
            "gap": max(judgement.gap for judgement in self.judgements),
            "nnz": worst.nnz,
            "density": worst.density,
        }


def interleave(problem: Problem, contenders: list[Contender]) -> None:
    """One run each, then again: what slows the machine for a while slows them all."""
    while waiting := [c for c in contenders if len(c.seconds) < c.repeats]:
        for contender in waiting:
            contender.go(problem)
