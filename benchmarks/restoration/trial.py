"""Everybody on one spoiled picture: what they make of it, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from ..timing import Neighbours, say, timed
from .pictures import Case
from .quality import marks, psnr, ssim
from .settings import Settings

Restore = Callable[[Case], np.ndarray]
SMALL = 64  # side of the piece on which code is loaded and compiled


@dataclass(frozen=True)
class Entrant:
    """Ways to restore, by setting: of several, the one nearest the truth is taken.

    Looking for it is not on the clock: an oracle tells rivals how they are at their best.
    """

    key: str
    label: str
    ways: dict[str, Restore]
    plan: Callable[[Case], Any] | None = None  # instead of a small piece before the clock runs
    search_side: int | None = None  # the ways are tried on a piece of the picture; None: all of it


def contest(
    case: Case, entrants: list[Entrant], settings: Settings
) -> tuple[dict, dict[str, np.ndarray]]:
    """A row for everybody, and the pictures by key."""
    neighbours = Neighbours()
    as_given = {"psnr": psnr(case.truth, case.given), "ssim": ssim(case.truth, case.given)}
    rows: list[dict] = [{"key": "given", "label": "as given"} | as_given]
    pictures = {"truth": case.truth, "given": case.given}
    for entrant in entrants:
        row, picture = trial(entrant, case, settings)
        rows.append(row)
        if picture is not None:
            pictures[entrant.key] = picture
        say(f"{case.name}: {in_short(row)}")
    return case.as_json() | {"cores_busy_elsewhere": neighbours.busy(), "rows": rows}, pictures


def trial(entrant: Entrant, case: Case, settings: Settings) -> tuple[dict, np.ndarray | None]:
    """What is fast runs several times; the picture is that of the first run."""
    about = {"key": entrant.key, "label": entrant.label}
    try:
        setting = best_way(entrant, case)
        way = entrant.ways[setting]
        if entrant.plan is None:
            way(case.middle(SMALL))
        else:
            entrant.plan(case)
        first, picture = timed(lambda: way(case))
        seconds = [first]
        while first <= settings.fast and len(seconds) < settings.repeats:
            seconds.append(timed(lambda: way(case))[0])
        found = {"setting": setting, "seconds": seconds} | marks(case, picture)
    except Exception as error:  # a long experiment must not end for one entrant
        return about | {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}, None
    return about | found, picture


def best_way(entrant: Entrant, case: Case) -> str:
    if len(entrant.ways) == 1:
        return next(iter(entrant.ways))
    part = case if entrant.search_side is None else case.middle(entrant.search_side)

    def nearness(setting: str) -> float:
        return psnr(part.truth, part.finished(entrant.ways[setting](part)))

    return max(entrant.ways, key=nearness)


def in_short(row: dict) -> str:
    if "failed" in row:
        return f"{row['label']}: {row['failed']}"
    return f"{row['label']}: {row['psnr']:.2f} dB in {median(row['seconds']):.3g} s"
