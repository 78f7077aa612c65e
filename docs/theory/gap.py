"""The surrogate comes down to the functional value; with p > 0 soon, with p = 0 late.

python -m docs.theory.gap        # a minute; writes gap.json and gap.png
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import convdict as cd
from benchmarks.drawing import BLUE, GREEN, VERMILION, name_ends, plain, styled

from .crops import PENALTY, TOLERANCE, crops, spaced, write

COLOURS = {0: VERMILION, 5: GREEN, 10: BLUE}
TOL = 1e-4  # of codes: what the gap is compared with must be smaller than it


def measure(
    *, steps: int = 2000, size: int = 32, n_kernels: int = 16, kernel: int = 8, test: int = 300
) -> dict:
    """For every p: surrogate and functional value of d(t) on the weighted past, and a test set."""
    past = list(crops(steps, size, seed=1))
    unseen = list(crops(test, size, seed=2))
    result: dict[str, Any] = {
        "steps": steps, "crop": size, "n_kernels": n_kernels, "kernel": kernel,
        "penalty": PENALTY, "tolerance": TOLERANCE, "coding_tol": TOL, "test": test,
    }  # fmt: skip
    for p in COLOURS:
        found: dict[str, list[float]] = {"t": [], "surrogate": [], "functional": [], "test": []}
        looks = set(spaced(min(10, steps), steps, 12))
        learner = cd.ConvDictLearner(
            n_kernels, (kernel, kernel), PENALTY, forgetting=p, tolerance=TOLERANCE,
            coding_tol=TOL, split=None, lookahead=0, random_state=0,
        )  # fmt: skip

        def look(learner, p=p, found=found, looks=looks):
            t = learner.n_steps_
            if t in looks:
                d = learner.dictionary_
                values = cd.evaluate(d, past[:t], PENALTY, tol=TOL).values
                weights = (np.arange(1, t + 1) / t) ** p
                found["t"].append(t)
                found["surrogate"].append(learner.history_[-1].surrogate)
                found["functional"].append(float(np.average(values, weights=weights)))
                found["test"].append(cd.evaluate(d, unseen, PENALTY, tol=TOL).value)

        learner.partial_fit(past, callback=look)
        result[f"p={p}"] = found
    return result


def relative(found: dict) -> np.ndarray:
    """(surrogate − functional value) / functional value"""
    return np.array(found["surrogate"]) / np.array(found["functional"]) - 1


def draw(result: dict) -> Figure:
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8))
        left.set(xscale="log", yscale="log", xlabel="step t")
        left.set_title("Surrogate above functional value")
        right.set(xscale="log", xlabel="step t")
        right.set_title("Functional value on unseen crops")
        for axes in (left, right):
            ends = {}
            for p, colour in COLOURS.items():
                found = result[f"p={p}"]
                y = relative(found) if axes is left else np.array(found["test"])
                axes.plot(found["t"], y, "o-", ms=4, color=colour)
                ends[f"p = {p}"] = (found["t"][-1], y[-1]), colour
            plain(axes, "x")
            figure.canvas.draw()
            name_ends(axes, ends)
        plain(left, "y", lambda share: f"{100 * share:g} %")
    return figure


def main() -> None:
    result = measure()
    for p in COLOURS:
        found = result[f"p={p}"]
        print(f"p = {p}: gap {relative(found)[-1]:.2e}, on unseen crops {found['test'][-1]:.4f}")
    write("gap", result, draw(result))


if __name__ == "__main__":
    main()
