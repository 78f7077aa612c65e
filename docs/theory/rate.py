"""How fast a dictionary settles: ‖d(t+1) − d(t)‖ = O(1/t).

python -m docs.theory.rate        # a minute; writes rate.json and rate.png
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import convdict as cd
from benchmarks.drawing import BLUE, GREY, VERMILION, name_ends, plain, styled

from .crops import PENALTY, TOLERANCE, crops, spaced, write

CODING_TOL = 0.1
FIRST = 30
COLOURS = {"surrogate": BLUE, "SGD": VERMILION}


def measure(*, steps: int = 8000, size: int = 64, n_kernels: int = 8, kernel: int = 8) -> dict:
    """‖Δd‖ of every step, in ranges of steps, and the slope of the last decade."""
    result: dict[str, Any] = {
        "steps": steps, "crop": size, "n_kernels": n_kernels, "kernel": kernel,
        "penalty": PENALTY, "tolerance": TOLERANCE, "coding_tol": CODING_TOL, "forgetting": 10,
        "step_size": [10, 5],
    }  # fmt: skip
    for method in COLOURS:
        learner = cd.ConvDictLearner(
            n_kernels, (kernel, kernel), PENALTY, method=method.lower(), tolerance=TOLERANCE,
            coding_tol=CODING_TOL, split=None, lookahead=0, random_state=0,
        )  # fmt: skip
        learner.partial_fit(crops(steps, size, seed=1))
        result[method] = summary(learner.history_.change)
    return result


def summary(change: np.ndarray) -> dict[str, Any]:
    """Medians between steps a constant ratio apart, with log ‖Δd‖ = slope · log t + constant,
    and the largest, all from step `FIRST` on."""
    edges = spaced(min(FIRST, len(change)), len(change) + 1, 20)
    ranges = list(pairwise(edges))
    step = [float(np.sqrt(a * (b - 1))) for a, b in ranges]
    middle = [float(np.median(change[a - 1 : b - 1])) for a, b in ranges]
    largest = [float(np.max(change[a - 1 : b - 1])) for a, b in ranges]
    last = np.array(step) >= len(change) / 10
    slope, _ = np.polyfit(np.log(np.array(step)[last]), np.log(np.array(middle)[last]), 1)
    return {"step": step, "median": middle, "largest": largest, "slope": float(slope)}


def draw(result: dict) -> Figure:
    with styled():
        figure, axes = plt.subplots(figsize=(8.5, 5))
        axes.set(xscale="log", yscale="log", xlabel="step t", ylabel="‖d(t + 1) − d(t)‖")
        axes.set_title("Steps shrink like 1/t")
        ends = {}
        for method, colour in COLOURS.items():
            found = result[method]
            axes.plot(found["step"], found["median"], "o-", ms=4, color=colour)
            axes.plot(found["step"], found["largest"], lw=1, color=colour)
            slope = f"{found['slope']:.2f}".replace("-", "−")
            for name in ("median", "largest"):
                text = f"{method}, {name}" + f": slope {slope}" * (name == "median")
                ends[text] = (found["step"][-1], found[name][-1]), colour
        t = np.array([FIRST, result["steps"]])
        axes.plot(t, 2 / t, color=GREY, ls=":")
        axes.text(t[0], 1.3 / t[0], "1/t", color=GREY, ha="left", va="top")
        plain(axes, "x")
        figure.canvas.draw()
        name_ends(axes, ends)
    return figure


def main() -> None:
    result = measure()
    print({method: round(result[method]["slope"], 2) for method in COLOURS})
    write("rate", result, draw(result))


if __name__ == "__main__":
    main()
