"""Figures of the paper's results: value against images or seconds, and dictionaries."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from ..drawing import name_ends, plain, save, styled
from .runs import kernels

AGAINST_TIME = {"main", "noisy", "large"}
SHOWN = {"splitting", "main", "noisy"}  # results whose dictionaries are compared
COLUMNS = 4


def curves(name: str, stage: dict, folder: Path) -> list[str]:
    runs = {k: c for k, c in stage["curves"].items() if c.get("points")}
    if not runs:
        return []
    with styled():
        drawn = [_values(name, runs, folder)]
        if name in SHOWN:
            drawn.append(_dictionaries(name, runs, folder))
    return drawn


def _values(name: str, runs: dict[str, dict], folder: Path) -> str:
    timed = name in AGAINST_TIME
    figure, axes = plt.subplots(figsize=(11, 0.28 * len(runs) + 5))
    axes.set(xscale="log", yscale="log", ylabel="value on test images")
    axes.set_xlabel("seconds of learning" if timed else "images")
    colours = plt.get_cmap("turbo")(np.linspace(0.05, 0.95, len(runs)))
    ends = {}
    for colour, curve in zip(colours, runs.values(), strict=True):
        x = [point["seconds" if timed else "images"] for point in curve["points"]]
        y = [point["value"] for point in curve["points"]]
        axes.plot(x, y, "o-", ms=3, color=colour)
        ends[curve["label"]] = (x[-1], y[-1]), colour
    plain(axes, "x")
    plain(axes, "y")
    values = [point["value"] for curve in runs.values() for point in curve["points"]]
    axes.set_ylim(0.99 * min(values), min(max(values), 1.6 * min(values)))
    figure.draw_without_rendering()
    top = axes.get_ylim()[1]
    name_ends(axes, {n: ((x, min(y, top)), c) for n, ((x, y), c) in ends.items()})
    return save(figure, folder, f"paper-{name}.png")


def _dictionaries(name: str, runs: dict[str, dict], folder: Path) -> str:
    """Main result III: dictionaries side by side, the kernels as they come."""
    down = -(-len(runs) // COLUMNS)
    figure, panels = plt.subplots(down, COLUMNS, figsize=(3.4 * COLUMNS, 3.7 * down), squeeze=False)
    for axes in panels.flat:
        axes.axis("off")
    for axes, curve in zip(panels.flat, runs.values(), strict=False):
        axes.imshow(_mosaic(kernels(curve)), cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
        axes.set_title(f"{curve['label']}\n{curve['points'][-1]['value']:.2f}", fontsize=10)
    return save(figure, folder, f"paper-{name}-dictionaries.png")


def _mosaic(d: np.ndarray) -> np.ndarray:
    side = int(np.ceil(np.sqrt(len(d))))
    h, w = d.shape[1] + 1, d.shape[2] + 1
    whole = np.ones((side * h + 1, side * w + 1))
    for i, kernel in enumerate(d):
        row, column = divmod(i, side)
        top, left = row * h + 1, column * w + 1
        whole[top : top + h - 1, left : left + w - 1] = kernel
    return whole
