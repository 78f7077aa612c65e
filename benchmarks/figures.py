"""Figures from a result of `coding`."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from . import summary
from .drawing import (
    BLUE,
    GREEN,
    GREY,
    HALO,
    ORANGE,
    PURPLE,
    VERMILION,
    mark_level,
    name_ends,
    plain,
    save,
    styled,
)

COLOURS = {
    "convdict": BLUE,
    "SPORCO, paper's settings": VERMILION,
    "SPORCO, fastest": ORANGE,
    "dense FISTA": GREEN,
    "working_set": BLUE,
    "admm": PURPLE,
    "fista": GREEN,
}
MARKERS = {"working_set": "o", "admm": "s", "fista": "^"}
FLOOR = 1e-6  # an excess below this is drawn here: the optimum is not known better


def main(stage: dict, folder: Path) -> list[str]:
    with styled():
        drawn = [save(_speed(stage), folder, "coding-speed.png")]
        if "trace" in stage:
            drawn.append(save(_objective(stage["trace"]), folder, "coding-objective.png"))
            drawn.append(save(_gap(stage["trace"], stage["settings"]), folder, "coding-gap.png"))
    return drawn


def scaling(stage: dict, folder: Path) -> list[str]:
    with styled():
        return [
            save(_sweeps(stage, "seconds", "seconds"), folder, "coding-scaling-time.png"),
            save(_sweeps(stage, "memory_mb", "MB"), folder, "coding-scaling-memory.png"),
        ]


def _speed(stage: dict) -> Figure:
    """One dot per image, a bar at the median, a dotted line at the target."""
    claims = summary.claims(stage)
    figure, axes = plt.subplots(figsize=(9.0, 1.05 * len(claims) + 1.2))
    scatter = np.random.default_rng(0)
    for y, claim in enumerate(reversed(claims)):
        sideways = axes.get_yaxis_transform()
        axes.text(0.0, y + 0.3, claim.text, transform=sideways, va="bottom", path_effects=HALO)
        spread = scatter.uniform(-0.12, 0.12, len(claim.ratios))
        axes.plot(claim.ratios, y + spread, "o", ms=7, color=BLUE, alpha=0.5, mew=0)
        axes.plot([claim.target] * 2, [y - 0.25, y + 0.25], color=GREY, lw=2, ls=":")
        if claim.middle is not None:
            axes.plot([claim.middle] * 2, [y - 0.25, y + 0.25], color=BLUE, lw=3.5)
            axes.text(1.02, y, f"{claim.middle:.3g}×", transform=sideways, va="center",
                      color=BLUE, weight="bold", fontsize=15)  # fmt: skip
        axes.text(1.02, y - 0.32, f"target {claim.target:g}×", transform=sideways, va="center",
                  color=GREY, fontsize=10.5)  # fmt: skip
    axes.set(xscale="log", yticks=[], ylim=(-0.5, len(claims) - 0.3), xlabel="times faster")
    plain(axes, "x")
    axes.set_title("dots: photographs; bar: median; dotted: target", weight="normal", fontsize=11)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    return figure


def _objective(trace: dict) -> Figure:
    lowest = trace["optimum"]
    curves = {}
    for name, points in trace["curves"].items():
        excess = [[p[0], max(p[1] / lowest - 1.0, FLOOR), *p[3:]] for p in points]
        arrived = [i for i, point in enumerate(excess) if point[1] <= FLOOR]
        curves[name] = excess[: arrived[0] + 1] if arrived else excess
    default = trace["curves"]["SPORCO, paper's settings"][-1][1]
    level = max(default / lowest - 1.0, FLOOR), "where SPORCO stops by default"
    figure = _falling(curves, level, top=2.0)
    figure.axes[0].set_title("Objective above the optimum, as a fraction of it")
    return figure


def _gap(trace: dict, told: dict) -> Figure:
    curves = {
        name: [[p[0], max(p[2], FLOOR), *p[3:]] for p in points]
        for name, points in trace["curves"].items()
    }
    gap = told["certificate"]
    figure = _falling(curves, (gap, f"certified: gap {gap:g}"), top=1.5)
    figure.axes[0].set_title("Relative duality gap of the codes in hand, by the judge")
    return figure


def _falling(curves: dict[str, list], level: tuple[float, str], *, top: float) -> Figure:
    """A run watched while it went on is a line; plain runs, one per tolerance, are dots."""
    figure, axes = plt.subplots(figsize=(9.5, 5.6))
    axes.set(xscale="log", yscale="log", xlabel="seconds")
    for name, points in curves.items():
        x, y = [p[0] for p in points], [p[1] for p in points]
        axes.plot(x, y, "o-" if name == "convdict" else "-", color=COLOURS[name], ms=5.5)
        for point in points:
            if len(point) > 2 and f"{point[2]:e}"[0] == "1":  # a tolerance that is 10^-k
                axes.annotate(f"tol {point[2]:g}", point[:2], xytext=(-9, 0), ha="right",
                              textcoords="offset points", va="center", color=COLOURS[name],
                              fontsize=9.5, path_effects=HALO)  # fmt: skip
    axes.set_ylim(top=top)
    mark_level(axes, *level)
    plain(axes, "x")
    figure.draw_without_rendering()  # only now is it known where everything lies
    name_ends(axes, {name: (points[-1][:2], COLOURS[name]) for name, points in curves.items()})
    return figure


LABELS = {
    "pixels": "number of pixels",
    "kernels": "number of kernels",
    "kernel size": "side of a kernel",
    "penalty": "density of the codes",
}


def _sweeps(stage: dict, key: str, unit: str) -> Figure:
    sweeps = {k: v for k, v in summary.sweeps(stage).items() if k in LABELS}
    n_rows = max(1, -(-len(sweeps) // 2))
    figure, panels = plt.subplots(n_rows, 2, figsize=(11.5, 4.0 * n_rows), squeeze=False)
    named: list[tuple[Axes, dict]] = []
    for axes, (sweep, solvers) in zip(panels.flat, sweeps.items(), strict=False):
        ends = {}
        for solver, rows in solvers.items():
            points = sorted((summary.along(sweep, row), row[key]) for row in rows if row[key])
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, MARKERS[solver] + "-", color=COLOURS[solver], ms=6)
                power = summary.slope(x, y)
                name = solver if power is None else f"{solver}, slope {power:.2f}"
                ends[name] = points[-1], COLOURS[solver]
        axes.set(xscale="log", yscale="log", ylabel=unit)
        axes.set_title(f"against the {LABELS[sweep]}", fontsize=12, weight="normal")
        plain(axes, "y")
        if sweep == "penalty":
            plain(axes, "x", lambda share: f"{100 * share:g} %")
        else:
            values = sorted({row["value"] for rows in solvers.values() for row in rows})
            square = sweep == "pixels"
            axes.set_xticks(values, [f"{v**0.5:.0f}²" if square else f"{v:g}" for v in values])
            axes.xaxis.set_minor_locator(NullLocator())
        named.append((axes, ends))
    for axes in panels.flat[len(sweeps) :]:
        axes.set_visible(False)
    what = {"seconds": "Time", "memory_mb": "Peak memory above the imports"}[key]
    figure.suptitle(f"{what}, coding to a gap of {stage['settings']['scaling_tol']:g}",
                    weight="bold", x=0.02, ha="left")  # fmt: skip
    figure.draw_without_rendering()  # only now is it known where everything lies
    for axes, ends in named:
        name_ends(axes, ends)
    return figure
