"""Figures of dictionaries, runs and codes, by matplotlib: the extra `plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConvdictError, InputError
from ..learning.dictionary import Dictionary
from ..model.codes import Codes

PANELS = {
    "value": "functional value of samples",
    "density": "density of codes",
    "gap": "duality gap of codes",
    "n_iter": "iterations of an update",
    "residual": "fixed-point residual",
    "change": "‖d⁺ − d‖",
}
RECENT = 0.05  # share of the steps that a smooth line averages


def plot_dictionary(dictionary: Any, *, columns: int | None = None, ax: Any = None) -> Any:
    """All kernels, the most used first; those that are hardly used are framed in red."""
    d = Dictionary.given(dictionary)
    ax = ax or _axes(figsize=(6, 6))
    ax.imshow(d.mosaic(columns=columns), interpolation="nearest")
    ax.set_title(f"{len(d)} kernels of {'×'.join(map(str, d.kernel))}")
    ax.axis("off")
    return ax.figure


def plot_history(history: Any) -> Any:
    """A run step by step: a learner, or its `history_`."""
    history = getattr(history, "history_", history)
    if not len(history):
        raise InputError("history is empty: there is nothing to draw yet")
    plt = _pyplot()
    figure, axes = plt.subplots(2, 3, figsize=(13, 6), layout="constrained")
    for ax, (name, title) in zip(axes.flat, PANELS.items(), strict=True):
        column = getattr(history, name)
        ax.plot(history.step, column, color="0.8", linewidth=0.8)
        width = max(1, int(RECENT * len(column)))
        if width > 1:
            smooth = np.convolve(column, np.ones(width) / width, "valid")
            ax.plot(history.step[width - 1 :], smooth, color="C0")
        if np.all(column[np.isfinite(column)] > 0) and name in ("residual", "change", "density"):
            ax.set_yscale("log")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("step")
    return figure


def plot_codes(codes: Codes, *, image: Any = None, ax: Any = None) -> Any:
    """Where kernels fire: a dot for each coefficient, its size by its weight, over the image."""
    if not isinstance(codes, Codes):
        raise InputError(f"codes is a {type(codes).__name__}: give Codes, as sparse_code returns")
    ax = ax or _axes(figsize=(7, 7))
    n_axes = codes.position.shape[1]
    place = codes.position + np.array(codes.origin)
    size = np.abs(codes.value) / max(np.abs(codes.value).max(initial=0), 1e-12)
    look = {"c": codes.kernel, "cmap": "hsv", "s": 1 + 30 * size, "linewidths": 0, "alpha": 0.8}
    if n_axes == 1:
        ax.scatter(place[:, 0], codes.kernel, **look)
        ax.set_xlabel("sample")
        ax.set_ylabel("kernel")
    else:
        if image is not None:
            ax.imshow(np.asarray(image), cmap="gray")
        else:
            ax.set_aspect("equal")
            ax.invert_yaxis()
        ax.scatter(place[:, -1], place[:, -2], **look)
        ax.axis("off")
    ax.set_title(f"{codes.nnz:,} coefficients, {100 * codes.density:.2g} %")
    return ax.figure


def plot_restored(before: Any, after: Any, *, truth: Any = None) -> Any:
    """An image before and after, and what it should be if that is known."""
    panels = [("before", before), ("after", after)] + ([("truth", truth)] * (truth is not None))
    plt = _pyplot()
    figure, axes = plt.subplots(
        1, len(panels), figsize=(5 * len(panels), 5.2), layout="constrained"
    )
    low, high = float(np.nanmin(after)), float(np.nanmax(after))
    for ax, (title, image) in zip(axes, panels, strict=True):
        ax.imshow(np.asarray(image), cmap="gray", vmin=low, vmax=high, interpolation="nearest")
        ax.set_title(title)
        ax.axis("off")
    return figure


def saved(figure: Any, path: Path) -> None:
    """Into a file, by its suffix."""
    try:
        figure.savefig(path, dpi=120, bbox_inches="tight")
    except ValueError as error:  # a suffix that matplotlib does not know
        raise InputError(f"{path}: {error}") from error
    finally:
        _pyplot().close(figure)


def _axes(figsize: tuple[float, float]) -> Any:
    return _pyplot().subplots(figsize=figsize, layout="constrained")[1]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ConvdictError("figures need matplotlib: pip install 'convdict[plot]'") from error
    return plt
