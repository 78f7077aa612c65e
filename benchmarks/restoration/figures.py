"""Figures from a result of `restoration`."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from ..drawing import save, styled
from . import summary
from .panels import KEYS, decode

NAMES = {"truth": "truth", "given": "as given", "sporco": "SPORCO's example", "ours": "convdict"}


def denoise(stage: dict, folder: Path) -> list[str]:
    return _details(stage, folder, "restoration-denoise.png", "Noise out")


def inpaint(stage: dict, folder: Path) -> list[str]:
    return _details(stage, folder, "restoration-inpaint.png", "Holes filled")


def _details(stage: dict, folder: Path, name: str, title: str) -> list[str]:
    """The middle of a picture as everybody has it, side by side; PSNR is that of all of it."""
    if "shown" not in stage:
        return []
    case, texts = stage["cases"][stage["shown"]["case"]], stage["shown"]["pictures"]
    keys = [key for key in KEYS if key in texts]
    with styled():
        figure, panels = plt.subplots(1, len(keys), figsize=(3.4 * len(keys), 4.2), squeeze=False)
        for axes, key in zip(panels.flat, keys, strict=True):
            axes.imshow(decode(texts[key]), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            row = summary.row_of(case, key)
            words = NAMES[key] if row is None else f"{NAMES[key]}, {row['psnr']:.2f} dB"
            axes.set_title(words, fontsize=12, weight="normal")
            axes.set_axis_off()
        figure.suptitle(f"{title}: {case['name']}", weight="bold", x=0.02, ha="left")
        return [save(figure, folder, name)]
