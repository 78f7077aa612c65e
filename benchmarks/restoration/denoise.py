"""Stage `denoise`: white noise, and everybody who takes it out."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..results import Results
from ..rivals import restorer, skimage_restoration, sporco_restoration
from ..timing import say
from .panels import details
from .pictures import SHOWN, Case, load, with_noise
from .settings import Settings
from .trial import Entrant, contest


def run(settings: Settings, stage: dict, results: Results) -> None:
    stage["cases"] = []
    everybody = entrants(settings)
    for name in settings.pictures:
        truth = load(name, settings.side)
        for sigma in settings.noises:
            say(f"denoise: {name}, σ = {sigma:g}")
            found, pictures = contest(with_noise(name, truth, sigma), everybody, settings)
            stage["cases"].append(found)
            if (name, sigma) == (SHOWN, sporco_restoration.MADE_FOR):
                stage["shown"] = {"case": len(stage["cases"]) - 1}
                stage["shown"] |= {"pictures": details(pictures, settings.shown)}
            results.save()


def entrants(settings: Settings) -> list[Entrant]:
    """We are told σ or find it ourselves; all others are told."""
    n_iter = settings.sporco_iterations
    example = partial(_sporco, times=1.0, n_iter=n_iter)
    planned = partial(_sporco, times=1.0, n_iter=2)  # FFTW plans its transforms
    tuned = {f"told {t:g} σ": partial(_sporco, times=t, n_iter=n_iter) for t in settings.told}
    weights = {f"weight {w:g} σ": partial(_total_variation, weight=w) for w in settings.weights}
    return [
        Entrant("ours", "convdict", {"": _ours}),
        Entrant("ours_estimated", "convdict, σ not told", {"": _ours_estimated}),
        Entrant("sporco", "SPORCO's example", {"": example}, planned),
        Entrant("sporco_tuned", "SPORCO, tuned", tuned, planned, settings.search_side),
        Entrant("tv", "total variation", weights),
        Entrant("wavelets", "wavelets", {w: partial(_wavelets, w=w) for w in settings.wavelets}),
        Entrant("nlm", "non-local means", {"": _nonlocal_means}),
    ]


def _ours(case: Case) -> np.ndarray:
    return restorer.denoise(case.given, case.sigma)


def _ours_estimated(case: Case) -> np.ndarray:
    return restorer.denoise(case.given)


def _sporco(case: Case, *, times: float, n_iter: int | None) -> np.ndarray:
    return sporco_restoration.denoise(case.given, times * case.sigma, n_iter)


def _total_variation(case: Case, *, weight: float) -> np.ndarray:
    return skimage_restoration.total_variation(case.given, weight * case.sigma)


def _wavelets(case: Case, *, w: str) -> np.ndarray:
    return skimage_restoration.wavelets(case.given, case.sigma, w)


def _nonlocal_means(case: Case) -> np.ndarray:
    return skimage_restoration.nonlocal_means(case.given, case.sigma)
