"""Results that are sets of runs; what has been run is not run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..learning.bench import Bench, lay_out, warm_up
from ..results import Results
from ..timing import Neighbours, say
from .runs import ADMM_CODING, PAPER, Run, carry_out
from .settings import Settings

Runs = Callable[[Settings], list[Run]]


def stage_of(runs: Runs, looks: int | None = None) -> Callable[[Settings, dict, Results], None]:
    """A stage that carries these runs out on the training images."""

    def run(settings: Settings, stage: dict, results: Results) -> None:
        bench = begun(lay_out(settings, stage), stage)
        for one in runs(settings):
            once(stage, one, results, partial(carry_out, one, bench, looks or settings.looks))

    return run


def begun(bench: Bench, stage: dict) -> Bench:
    """Compiled, and the first dictionary judged."""
    if "start" not in stage:
        warm_up(bench)
        stage["start"] = bench.examiner(bench.d).value
    stage.setdefault("curves", {})
    return bench


def once(stage: dict, run: Run, results: Results, work: Callable[[], dict]) -> None:
    """Carry a run out unless the stage has it already, and save."""
    if run.key in stage["curves"]:
        say(f"{run.label}: is there already")
        return
    neighbours = Neighbours()
    found = work()
    stage["curves"][run.key] = found | {"cores_busy_elsewhere": neighbours.busy()}
    results.save()


def sgd_steps(settings: Settings) -> list[Run]:
    """η fixed, and a / (b + t)."""
    told = {"method": "sgd", "domain": "sparse", "split": None, "constraint": "ball"}
    told |= {"n_epochs": settings.passes, "coding_tol": settings.coding_tol}
    fixed = [
        Run(f"fixed-{eta:g}", f"η = {eta:g}", told | {"step_size": eta})
        for eta in settings.fixed_steps
    ]
    diminishing = [
        Run(f"diminishing-{a:g}-{b:g}", f"η = {a:g} / ({b:g} + t)", told | {"step_size": (a, b)})
        for a in settings.step_grid
        for b in settings.step_grid
    ]
    return fixed + diminishing


def _surrogate(settings: Settings) -> dict:
    told = PAPER | {"split": None, "n_epochs": settings.passes, "tolerance": (1e-4, 0.0)}
    return told | {"coding_tol": settings.coding_tol}


def forgetting(settings: Settings) -> list[Run]:
    """p of the weights, without splitting, updates to 1e-4."""
    told = _surrogate(settings)
    return [Run(f"p-{p:g}", f"p = {p:g}", told | {"forgetting": p}) for p in settings.exponents]


def splitting(settings: Settings) -> list[Run]:
    """Sides of tiles, with circular and with free boundaries; one pass, for tiles are many."""
    told = _surrogate(settings) | {"n_epochs": 1}
    found = []
    for boundary in ("circular", "free"):
        for side in settings.tiles:
            each = max(1, (settings.size // side) ** 2 // 4)
            label = f"{side}², {boundary}"
            some = told | {"split": side, "boundary": boundary}
            run = Run(f"{boundary}-{side}", label, some, every=each)
            found.append(replace(run, budget=settings.budget / 3))
    return found


def tolerance(settings: Settings) -> list[Run]:
    """τ of FISTA, fixed and falling."""
    rules = {"1e-4": (1e-4, 0.0), "1e-2": (1e-2, 0.0), "0.01 / t": (1e-2, 1.0)}
    told = _surrogate(settings)
    return [
        Run(f"tau-{name}", f"τ = {name}", told | {"tolerance": rule})
        for name, rule in rules.items()
    ]


def online_methods(settings: Settings) -> list[Run]:
    """Every online method of the paper, coded as in the paper and then our way; and ours."""
    large, small = settings.size // 2, settings.size // 4
    surrogate = PAPER | {"tolerance": (1e-2, 1.0)}
    regions = {"sampling": "regions", "split": small, "tolerance": (1e-3, 0.0)}
    sgd = {"method": "sgd", "split": None, "constraint": "ball", "shuffle": False}
    methods = {
        "sgd-sparse": ("Algorithm 1, Option I", sgd | {"domain": "sparse"}),
        "sgd-frequency": ("Algorithm 1, Option II", sgd | {"domain": "frequency"}),
        "surrogate-sparse": (
            "Algorithm 2, Option I",
            surrogate | {"domain": "sparse", "split": large},
        ),
        "surrogate-frequency": (
            "Algorithm 2, Option II",
            surrogate | {"domain": "frequency", "split": small},
        ),
        "coordinates": (
            "Algorithm 2, lags, kernel by kernel",
            surrogate | {"rule": "coordinates", "split": large},
        ),
        "regions": ("Online-Samp", surrogate | regions | {"domain": "frequency"}),
    }
    found = [Run("default", "convdict's default", {"n_epochs": settings.passes})]
    for key, (label, told) in methods.items():
        found.append(Run(f"{key}-ours", f"{label}, our coding", told, budget=settings.budget))
    for key, (label, told) in methods.items():
        found.append(Run(f"{key}-admm", label, told | ADMM_CODING, budget=settings.budget))
    return found


def batch_methods(settings: Settings) -> list[Run]:
    found = []
    for k in reversed(settings.batches):
        for method, name in (("consensus", "ADMM consensus"), ("slices", "slices")):
            run = Run(f"{method}-{k}", f"batch, {name}, K = {k}", {"method": method}, batch=True)
            found.append(replace(run, n_images=k, budget=settings.budget))
    return found


def main(settings: Settings) -> list[Run]:
    return online_methods(settings) + batch_methods(settings)
