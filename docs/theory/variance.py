"""What forgetting costs: n · variance of a weighted mean tends to σ²(p + 1)² / (2p + 1).

python -m docs.theory.variance        # some seconds; writes variance.json and variance.png
"""

from __future__ import annotations

from math import exp, pi, sqrt

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import convdict as cd
from benchmarks.drawing import BLUE, GREY, HALO, VERMILION, styled

from .crops import PENALTY, crops, write

EXPONENTS = 0, 1, 2, 5, 10, 20, 40
SHOWN = {0: BLUE, 10: VERMILION}
EDGES = np.linspace(-10, 10, 81)


def factor(p: float) -> float:
    """(p + 1)² / (2p + 1)"""
    return (p + 1) ** 2 / (2 * p + 1)


def measure(*, n: int = 2000, means: int = 20000, pool: int = 500, size: int = 32) -> dict:
    """Weighted means of `n` functional values, drawn from those of a pool of crops."""
    rng = np.random.default_rng(0)
    d = rng.standard_normal((8, 8, 8))
    d /= np.linalg.norm(d, axis=(1, 2), keepdims=True)
    values = cd.evaluate(d, crops(pool, size, seed=1), PENALTY, tol=1e-2).values
    z = (values - values.mean()) / values.std()
    weights = (np.arange(1, n + 1) / n) ** np.array(EXPONENTS, float)[:, np.newaxis]
    weights /= weights.sum(axis=1, keepdims=True)
    deviations = sqrt(n) * np.array([weights @ rng.choice(z, n) for _ in range(means)])
    return {
        "n": n, "means": means, "pool": pool, "crop": size, "p": EXPONENTS,
        "formula": [factor(p) for p in EXPONENTS],
        "measured": deviations.var(axis=0).tolist(),
        "standard_error": sqrt(2 / means),  # of a variance, relative
        "densities": {
            str(p): np.histogram(deviations[:, EXPONENTS.index(p)], EDGES, density=True)[0].tolist()
            for p in SHOWN
        },
    }  # fmt: skip


def draw(result: dict) -> Figure:
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8))
        p = np.linspace(0, max(EXPONENTS), 200)
        left.plot(p, factor(p), color=GREY)
        left.plot(result["p"], result["measured"], "o", color=BLUE, ms=7)
        left.set(xlabel="forgetting exponent p", ylabel="n · variance / σ²", ylim=(0, None))
        left.set_title("Variance of a weighted mean")
        left.text(14, 6, "line: (p + 1)² / (2p + 1)", color=GREY, ha="left", va="top")
        left.text(14, 5, "dots: measured", color=BLUE, ha="left", va="top")
        right.set(xlabel="√n · (weighted mean − μ) / σ", ylabel="density", xlim=(-9, 11))
        right.set_title("Its distribution, and the normal one")
        middle = (EDGES[1:] + EDGES[:-1]) / 2
        for p, colour in SHOWN.items():
            right.step(middle, result["densities"][str(p)], where="mid", color=colour, lw=1.2)
            sigma = sqrt(factor(p))
            x = np.linspace(-9, 9, 400)
            right.plot(x, np.exp(-0.5 * (x / sigma) ** 2) / (sigma * sqrt(2 * pi)), color=colour)
            at = 1.2 * sigma
            height = exp(-0.5 * 1.2**2) / (sigma * sqrt(2 * pi))
            right.text(at + 0.4, height, f"p = {p}, variance {factor(p):.2f}", color=colour,
                       weight="bold", va="bottom", path_effects=HALO)  # fmt: skip
    return figure


def main() -> None:
    result = measure()
    for p, measured, formula in zip(
        result["p"], result["measured"], result["formula"], strict=True
    ):
        print(f"p = {p}: {measured:.3f} measured, {formula:.3f} by the formula")
    write("variance", result, draw(result))


if __name__ == "__main__":
    main()
