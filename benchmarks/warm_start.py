"""Stage `warm`: coding again after the dictionary has moved a little, as it does in learning."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
import scipy.fft

from .datasets import photographs, source
from .dictionaries import load
from .judge import Problem, SparseMaps, judge, residual
from .results import Results
from .rivals import ours
from .settings import Settings
from .timing import Neighbours, say, timed

SMALL = (0.003, 0.01)  # of the dictionary's norm
PAPER_STEP = 10.0 / (5.0 + 40.0)  # the paper's a / (b + t) after 40 images


def run(settings: Settings, stage: dict, results: Results) -> None:
    d = load(settings.dictionary)
    photos = photographs(settings.photos, n=settings.n_images, size=settings.size)
    stage["photographs"] = source(settings.photos)
    stage["images"] = []
    for index, photo in enumerate(photos):
        neighbours = Neighbours()
        rows = measure(Problem(photo.s, d, settings.penalty), settings, settings.seed + index)
        stage["images"].append(
            {"name": photo.name, "cores_busy_elsewhere": neighbours.busy(), "rows": rows}
        )
        results.save()
        ratios = ", ".join(f"{r['cold_seconds'] / r['warm_seconds']:.1f}" for r in rows)
        say(f"warm: image {index + 1} of {len(photos)}: {ratios} times faster than cold")


def measure(problem: Problem, settings: Settings, seed: int) -> list[dict]:
    """Cold against warm at each of a few moved dictionaries, in turn, all certified."""
    old = ours.solve(problem, tol=settings.certificate)
    rows = []
    for name, d in moved_dictionaries(problem, ours.readable(old), seed):
        moved = Problem(problem.s, d, problem.lmbda)
        times: dict[str, list[float]] = {"cold": [], "warm": []}
        gaps = {"cold": 0.0, "warm": 0.0}
        for _ in range(settings.repeats):
            for how, init in (("cold", None), ("warm", old)):
                seconds, codes = timed(
                    lambda p=moved, i=init: ours.solve(p, tol=settings.certificate, init=i)
                )
                times[how].append(seconds)
                gaps[how] = max(gaps[how], judge(moved, ours.readable(codes)).gap)
        rows.append(
            {
                "dictionary": name,
                "moved_by": _distance(problem.d, d),
                "cold_seconds": median(times["cold"]),
                "warm_seconds": median(times["warm"]),
                "cold_gap": gaps["cold"],
                "warm_gap": gaps["warm"],
            }
        )
    return rows


def moved_dictionaries(
    problem: Problem, codes: SparseMaps | np.ndarray, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Small steps, down the gradient as in learning or blindly, and a full one of the paper's.

    The paper's single-image steps are long: while learning settles, or with batches and the
    second-order method, the dictionary moves by the small ones.
    """
    g = gradient(problem, codes)
    noise = np.random.default_rng(seed).standard_normal(problem.d.shape)
    for name, direction in (("down this image's gradient", -g), ("in a random direction", noise)):
        for small in SMALL:
            length = small * np.linalg.norm(problem.d) / np.linalg.norm(direction)
            yield f"{100 * small:g} % {name}", project(problem.d + length * direction)
    yield "a full SGD step of the paper, after 40 images", project(problem.d - PAPER_STEP * g)


def gradient(problem: Problem, codes: SparseMaps | np.ndarray) -> np.ndarray:
    """∂/∂d_m of ½‖Σ d*x − s‖² at the offset δ: −Σ_p x_m[p] r[p + δ]."""
    r_hat = scipy.fft.rfftn(residual(problem, codes)[0])
    support = tuple(slice(0, extent) for extent in problem.d.shape[1:])
    g = np.empty(problem.d.shape)
    for m in range(problem.n_kernels):
        x_hat = scipy.fft.rfftn(_map(problem, codes, m))
        g[m] = -scipy.fft.irfftn(np.conj(x_hat) * r_hat, s=problem.grid)[support]
    return g


def project(d: np.ndarray) -> np.ndarray:
    """Onto ‖d_m‖ ≤ 1."""
    norms = np.sqrt((d * d).sum(axis=(1, 2), keepdims=True))
    return np.ascontiguousarray(d / np.maximum(norms, 1.0), dtype=np.float32)


def _map(problem: Problem, codes: SparseMaps | np.ndarray, m: int) -> np.ndarray:
    if not isinstance(codes, SparseMaps):
        return codes[m].astype(np.float64)
    x = np.zeros(problem.s.size)
    chosen = codes.kernel == m
    np.add.at(x, codes.position[chosen], codes.value[chosen])
    return x.reshape(problem.grid)


def _distance(d: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(other - d) / np.linalg.norm(d))
