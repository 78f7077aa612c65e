"""How every figure looks: colours that everybody can tell apart, lines named where they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullFormatter

# Okabe and Ito's palette
BLUE, VERMILION, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7"
GREY = "#555555"
STYLE = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "lines.linewidth": 2.0,
    "figure.constrained_layout.use": True,
}
HALO = [withStroke(linewidth=3, foreground="white")]  # keeps a label readable on a line


def styled() -> AbstractContextManager[None]:
    """With this around it, a figure has our style."""
    return mpl.rc_context(STYLE)


def name_ends(axes: Axes, ends: dict[str, tuple[Sequence[float], str]]) -> None:
    """Each line's {name: (end, colour)} beside its end, pushed up until it covers no other."""
    points_per_pixel = 72.0 / axes.figure.dpi
    placed: list[tuple[float, float, float]] = []  # left, right, height
    for name, (end, colour) in sorted(ends.items(), key=lambda item: item[1][0][1]):
        x, y = axes.transData.transform(end) * points_per_pixel
        left, right, height = x, x + 9.0 + 7.5 * len(name), y
        for other_left, other_right, other in sorted(placed, key=lambda box: box[2]):
            if left < other_right and other_left < right and abs(height - other) < 17.0:
                height = other + 17.0
        placed.append((left, right, height))
        axes.annotate(name, end, xytext=(9, height - y), textcoords="offset points", va="center",
                      color=colour, weight="bold", fontsize=11, path_effects=HALO,
                      annotation_clip=False)  # fmt: skip


def mark_level(axes: Axes, y: float, text: str) -> None:
    axes.axhline(y, color=GREY, lw=1.2, ls=":", zorder=1)
    axes.text(0.01, y, text, transform=axes.get_yaxis_transform(), va="bottom", color=GREY,
              fontsize=10.5, path_effects=HALO)  # fmt: skip


def plain(axes: Axes, which: str, name: Callable[[float], str] = "{:g}".format) -> None:
    """0.1, 1, 10 rather than powers of ten, 2 and 5 as well on a short axis; a decade at least."""
    axis = {"x": axes.xaxis, "y": axes.yaxis}[which]
    low, high = {"x": axes.get_xlim, "y": axes.get_ylim}[which]()
    if high < 11.0 * low:
        middle = (low * high) ** 0.5
        low, high = middle / 11.0**0.5, middle * 11.0**0.5
        axes.set(**{f"{which}lim": (low, high)})
    axis.set_major_formatter(FuncFormatter(lambda value, _: name(value)))
    between = FuncFormatter(lambda value, _: name(value) if f"{value:e}"[0] in "25" else "")
    axis.set_minor_formatter(between if high < 120.0 * low else NullFormatter())


def save(figure: Figure, folder: Path, name: str) -> str:
    figure.savefig(folder / name, dpi=150, bbox_inches="tight")
    plt.close(figure)
    return name
