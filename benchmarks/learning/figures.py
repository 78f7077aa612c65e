"""Figures from a result of `learning`."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    mark_level,
    name_ends,
    plain,
    save,
    styled,
)
from . import summary

SKY = "#56B4E9"
COLOURS = {
    "surrogate_lag": BLUE,
    "surrogate_lag_whole": SKY,
    "sgd_sparse": GREEN,
    "sgd_sparse_whole": GREEN,
    "sgd_frequency_whole": GREEN,
    "surrogate_sparse": PURPLE,
    "surrogate_frequency": PURPLE,
    "sporco_paper": VERMILION,
    "sklearn": GREY,
}
DASHES = {"sgd_sparse_whole": "--", "sgd_frequency_whole": ":", "surrogate_frequency": "--"}


def race(stage: dict, folder: Path) -> list[str]:
    with styled():
        return [save(_race(stage), folder, "learning.png")] if _curves(stage) else []


def _curves(stage: dict) -> dict[str, dict]:
    """The best of SPORCO's hurried settings stands for all of them."""
    fastest = summary.fastest_sporco(stage)
    hurried = {k for k in stage["curves"] if k.startswith(summary.HURRIED)}
    left_out = hurried - {fastest.key if fastest else None}
    return {k: c for k, c in stage["curves"].items() if c.get("points") and k not in left_out}


def _race(stage: dict) -> Figure:
    """Lines from the first look on, dots after whole passes, named where they end."""
    figure, axes = plt.subplots(figsize=(11.0, 6.6))
    axes.set(xscale="log", xlabel="seconds of learning", ylabel="value on test photographs")
    ends = {}
    curves = _curves(stage)
    for key, curve in curves.items():
        if key.endswith("_passes"):  # drawn with the first pass, of which it is more
            continue
        hurried = key.startswith(summary.HURRIED)
        colour = ORANGE if hurried else COLOURS[key]
        points = [(point["seconds"], point["value"]) for point in curve["points"]]
        axes.plot(*zip(*points, strict=True), DASHES.get(key, "-"), color=colour)
        further = curves.get(f"{key}_passes", {"points": []})["points"][1:]
        more = [points[-1], *((point["seconds"], point["value"]) for point in further)]
        whole = "stopped" not in curve
        axes.plot(*zip(*more, strict=True), "o-" if whole else "-", color=colour, ms=6)
        ends["SPORCO, fastest" if hurried else curve["label"]] = more[-1], colour
    _frame(axes, [p["value"] for c in curves.values() for p in c["points"]], stage)
    if "target" in stage:
        mark_level(axes, stage["target"], "SPORCO after one pass, paper's settings")
    axes.set_title("Value of the dictionary against the time spent on learning; dots: whole passes")
    plain(axes, "x")
    figure.draw_without_rendering()  # only now is it known where everything lies
    top = axes.get_ylim()[1]
    name_ends(axes, {n: ((x, min(y, top)), c) for n, ((x, y), c) in ends.items()})
    return figure


def _frame(axes, values: list[float], stage: dict) -> None:
    """Where learners differ: from the best value to some way above where SPORCO ends."""
    low = min(values)
    high = min(stage["start"]["value"], low * 1.09) if "target" in stage else max(values)
    room = 0.05 * (high - low)
    axes.set_ylim(low - room, high + room)


def steps(stage: dict, folder: Path) -> list[str]:
    rows = [row for row in stage["rows"] if row.get("step")]
    if not rows:
        return []
    with styled():
        figure, (above, below) = plt.subplots(2, 1, figsize=(9.5, 7.0), sharex=True)
        colours = dict(zip((row["label"] for row in rows), (BLUE, GREEN), strict=False))
        panels = (above, "ms", "median ms a step"), (below, "memory_mb", "MB above the first step")
        for axes, key, label in panels:
            ends = {}
            for row in rows:
                points = [(s, v) for s, v in zip(row["step"], row[key], strict=True)
                          if v is not None]  # fmt: skip
                if points:
                    axes.plot(*zip(*points, strict=True), color=colours[row["label"]])
                    ends[row["label"]] = points[-1], colours[row["label"]]
            axes.set_ylabel(label)
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
            figure.draw_without_rendering()
            name_ends(axes, ends)
        below.set_xlabel("steps")
        above.set_title("Time and memory over many small steps")
        return [save(figure, folder, "learning-steps.png")]


def sizes(stage: dict, folder: Path) -> list[str]:
    """A table of values for each method and way to split, coloured by what is above the best."""
    rows = [row for row in stage["rows"] if "value" in row and np.isfinite(row["value"])]
    if not rows:
        return []
    kinds = list(dict.fromkeys((row["label"], row["split"]) for row in rows))
    pieces = sorted({row["size"] for row in rows})
    batches = sorted({row["batch"] for row in rows})
    best = min(row["value"] for row in rows)
    with styled():
        across = min(len(kinds), 2)
        down = -(-len(kinds) // across)
        size = (4.8 * across, (0.75 * len(pieces) + 1.3) * down)
        figure, panels = plt.subplots(down, across, figsize=size, squeeze=False)
        for axes, kind in zip(panels.flat, kinds, strict=False):
            values = np.full((len(pieces), len(batches)), np.nan)
            for row in rows:
                if (row["label"], row["split"]) == kind:
                    values[pieces.index(row["size"]), batches.index(row["batch"])] = row["value"]
            excess = 100 * (values / best - 1)
            axes.imshow(excess, cmap="Blues", vmin=0, vmax=10, aspect="auto")
            for i, j in np.argwhere(np.isfinite(values)):
                words = f"{values[i, j]:.2f}\n{excess[i, j]:+.1f} %"
                colour = "white" if excess[i, j] > 6 else "black"
                axes.text(j, i, words, ha="center", va="center", fontsize=10.5, color=colour)
            axes.set_xticks(range(len(batches)), [f"batch {b}" for b in batches])
            axes.set_yticks(range(len(pieces)), [f"{p}²" for p in pieces])
            axes.set_title(", ".join(kind), fontsize=11.5, weight="normal")
            axes.grid(visible=False)
        for axes in panels.flat[len(kinds) :]:
            axes.set_visible(False)
        figure.suptitle("Value after the same pixels, and what it is above the best",
                        weight="bold", x=0.02, ha="left")  # fmt: skip
        return [save(figure, folder, "learning-sizes.png")]
