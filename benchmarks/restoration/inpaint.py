"""Stage `inpaint`: samples hidden at random, and everybody who fills them in."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..child import run_apart
from ..results import Results
from ..rivals import interpolation, restorer, skimage_restoration, sporco_restoration
from ..timing import say, timed
from .panels import details
from .pictures import SHOWN, Case, load, with_holes
from .quality import marks
from .settings import Settings
from .trial import Entrant, contest, in_short


def run(settings: Settings, stage: dict, results: Results) -> None:
    stage["cases"] = []
    everybody = entrants(settings)
    for name, hidden in settings.holes:
        say(f"inpaint: {name}, {100 * hidden:g} % hidden")
        case = with_holes(name, load(name, settings.side), hidden)
        found, pictures = contest(case, everybody, settings)
        rows = found["rows"]
        rows += _put_back(case, rows, pictures)
        rows.append(_biharmonic(case, settings))
        say(f"{name}: {in_short(rows[-1])}")
        stage["cases"].append(found)
        if (name, hidden) == (SHOWN, sporco_restoration.SHARE):
            stage["shown"] = {"case": len(stage["cases"]) - 1}
            stage["shown"] |= {"pictures": details(pictures, settings.shown)}
        results.save()


def entrants(settings: Settings) -> list[Entrant]:
    example = partial(_sporco, n_iter=settings.sporco_iterations)
    planned = partial(_sporco, n_iter=2)  # FFTW plans its transforms
    return [
        Entrant("ours", "convdict", {"": _ours}),
        Entrant("sporco", "SPORCO's example", {"": example}, planned),
        Entrant("linear", "linear interpolation", {"": _linear}),
    ]


def _put_back(case: Case, rows: list[dict], pictures: dict[str, np.ndarray]) -> list[dict]:
    """SPORCO's example also changes what was seen: here that stays, at no cost of time."""
    if "sporco" not in pictures:
        return []
    row = next(row for row in rows if row["key"] == "sporco")
    kept = np.where(case.seen, case.given, pictures["sporco"])
    about = {"key": "sporco_kept", "label": "SPORCO, what was seen put back"}
    return [row | about | marks(case, kept)]


def _biharmonic(case: Case, settings: Settings) -> dict:
    """In a process of its own: one large system of equations, which may never be solved."""
    job = {"module": "restoration.inpaint", "cores": settings.cores}
    arrays = {"truth": case.truth, "given": case.given, "seen": case.seen}
    found = run_apart(job, limit=settings.time_limit, **arrays)
    return {"key": "biharmonic", "label": "biharmonics", "setting": ""} | found


def work(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """In that process: the row of biharmonics."""
    case = Case("", **arrays)
    corner = case.middle(32)
    skimage_restoration.biharmonic(corner.given, corner.seen)  # loaded
    seconds, picture = timed(lambda: skimage_restoration.biharmonic(case.given, case.seen))
    return {"seconds": [seconds]} | marks(case, picture)


def _ours(case: Case) -> np.ndarray:
    return restorer.inpaint(case.given, case.seen)


def _sporco(case: Case, *, n_iter: int | None) -> np.ndarray:
    return sporco_restoration.inpaint(case.given, case.seen, n_iter)


def _linear(case: Case) -> np.ndarray:
    return interpolation.linear(case.given, case.seen)
