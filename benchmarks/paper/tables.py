"""Results `sgd-table` and `surrogate-table`: what the parts of one step take, and the memory."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from ..child import run_apart
from ..learning.bench import Bench, lay_out
from ..resident import forget_peak, megabytes, resident
from ..results import Results
from ..timing import say, timed
from . import online
from .settings import Settings

SGD_DOMAINS = {"dense": "dense matrix", "sparse": "sparse matrix", "frequency": "frequency domain"}
SURROGATE_DOMAINS = SGD_DOMAINS | {"lag": "lags"}
CODING_GAP = 1e-2  # ours; ADMM stops by its residuals
LIMIT = 1800.0  # seconds for one row
FISTA = (5, 25)  # iterations: the difference in time is what iterations cost
CODERS = {"paper": "ADMM as in the paper", "working_set": "convdict's"}


def sgd(settings: Settings, stage: dict, results: Results) -> None:
    _rows(settings, stage, results, "sgd", SGD_DOMAINS, [settings.size])


def surrogate(settings: Settings, stage: dict, results: Results) -> None:
    _rows(settings, stage, results, "surrogate", SURROGATE_DOMAINS, settings.step_sizes)


def _rows(settings: Settings, stage: dict, results: Results, method: str, domains, sizes) -> None:
    bench = lay_out(settings, stage)
    stage.setdefault("rows", [])
    done = {(row["domain"], row["size"]) for row in stage["rows"]}
    d = settled(bench)
    for size in sizes:
        tile = usual(bench.train, size)
        for domain, label in domains.items():
            if (domain, size) in done:
                continue
            job = {"module": "paper.tables", "method": method, "domain": domain}
            job |= {"cores": settings.cores, "repeats": settings.repeats, "penalty": bench.penalty}
            found = run_apart(job, limit=LIMIT, images=tile[None], d=d)
            stage["rows"].append({"domain": domain, "label": label, "size": size} | found)
            results.save()
            say(f"{method}, {label}, {size}²: {found}")


def usual(images: list[np.ndarray], size: int) -> np.ndarray:
    """A corner of that size: of all images' the one with as much detail as half of the others."""
    corners = sorted((s[:size, :size] for s in images), key=lambda s: float(np.sum(s * s)))
    return np.ascontiguousarray(corners[len(corners) // 2])


def settled(bench: Bench) -> np.ndarray:
    """A dictionary that has seen the images: codes of noise would be unlike any in use."""
    return online.learn(bench.train[:10], bench.d, penalty=bench.penalty, facts={})


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """In a process of its own: coding both ways, then the parts of one step."""
    import convdict
    from convdict.learning.coded import Coded
    from convdict.model.pose import pose

    s, d = arrays["images"][0], arrays["d"]
    coding = {}
    for name in CODERS:
        solver = online.coder(name)

        def code(solver=solver) -> Any:
            return convdict.sparse_code(s, d, job["penalty"], solver=solver, tol=CODING_GAP)

        coding[name] = _seconds(code, job["repeats"])
    codes = code()
    problem = pose(s, d, job["penalty"])[0].astype(np.dtype(np.float32))
    triplets = codes.triplets()
    triplets = triplets._replace(value=triplets.value.astype(np.float32))
    coded = Coded(problem, triplets, codes.objective, codes.gap)
    forget_peak()
    before = resident()
    parts = _sgd_parts if job["method"] == "sgd" else _surrogate_parts
    found = parts(job["domain"], coded, job["repeats"])
    found |= {f"coding_{name}": seconds for name, seconds in coding.items()}
    return found | {"density": codes.density, "memory_mb": megabytes(resident("VmHWM"), before)}


def _sgd_parts(domain: str, coded: Any, repeats: int) -> dict:
    from convdict.learning.constraint import Constraint
    from convdict.learning.sgd import Sgd

    learning = Sgd(domain=domain, step_size=(10.0, 5.0), constraint=Constraint("ball"))
    return {"update": _seconds(lambda: learning.update(coded.problem.d, [coded]), repeats)}


def _surrogate_parts(domain: str, coded: Any, repeats: int) -> dict:
    from convdict.learning.constraint import Constraint
    from convdict.learning.second_order import SecondOrder

    d = coded.problem.d
    learning = SecondOrder(
        shape=d.shape,
        dtype=np.dtype(np.float32),
        domain=domain,
        forgetting=10.0,
        tolerance=(0.0, 1.0),  # as many iterations as are allowed
        constraint=Constraint("ball"),
    )
    statistics = learning.statistics

    def apply() -> None:
        statistics.hessian.apply(d)

    def update() -> None:
        """A ← αA + XᵀX, b ← αb + Xᵀs, ready to be applied."""
        statistics.scale(0.9)
        terms = statistics.terms(coded.problem, coded.codes)
        statistics.add([(coded.problem, terms, 1.0)])
        apply()

    updating = _seconds(update, repeats) - _seconds(apply, repeats)
    taken = []
    for n_iter in FISTA:
        learning.MAX_ITER = n_iter
        taken.append(_seconds(lambda: learning.update(d, [coded], [None]), repeats))
    return {"update": updating, "fista_step": (taken[1] - taken[0]) / (FISTA[1] - FISTA[0])}


def _seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median, once everything is compiled and planned."""
    work()
    return median(timed(work)[0] for _ in range(repeats))
