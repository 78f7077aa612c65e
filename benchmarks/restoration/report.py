"""From a result to a page: Markdown and figures. Nothing is run here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..markdown import made_with, quick, table
from . import figures, pages, summary

STAGES: dict[str, tuple[Callable[[dict, list[str]], list[str]], Callable]] = {
    "denoise": (pages.denoise, figures.denoise),
    "inpaint": (pages.inpaint, figures.inpaint),
}


def render(data: dict, folder: Path) -> Path:
    """Write restoration.md and its figures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = data["stages"]
    parts = ["# Restoring images", _opening(stages), *_reproduced(stages)]
    for name, (write, draw) in STAGES.items():
        if stages.get(name, {}).get("cases"):
            parts += write(stages[name], draw(stages[name], folder))
    parts += made_with(stages)
    page = folder / "restoration.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _opening(stages: dict) -> str:
    text = (
        "Made by `python -m benchmarks restoration`; `python -m benchmarks report "
        "restoration.json` draws it again from the numbers. Pictures are those that come with "
        "SPORCO, of large ones a piece from the middle, and everybody gets the same float32 "
        "arrays, spoiled with the random numbers of "
        "SPORCO's examples. PSNR and SSIM (windows of 7×7) are against the truth, with a peak of "
        "1. Times are wall-clock and of all that is done to a picture, after loading, compiling "
        "and planning: medians of several runs of what is fast, one run of what is slow. convdict "
        "runs as it comes, with the dictionary that it brings, which has not seen these pictures. "
        "The constants of its penalties were chosen with pieces of these very pictures, under the "
        "same noise, and three other photographs in view, so this page flatters them a little; "
        "docs/restoration.md says what they gain on pictures that had no part in the choice."
    )
    return text + quick(stages)


def _reproduced(stages: dict) -> list[str]:
    """Whether SPORCO is run as its authors run it."""
    rows = [
        [found.example, f"{found.published:.2f}", f"{found.found:.2f}", f"{found.psnr:.2f}"]
        for found in summary.reproduced(stages)
    ]
    if not rows:
        return []
    text = (
        "SPORCO's documentation shows what its examples reach. It measures with the range of the "
        "truth for a peak, which is not 1; elsewhere on this page the peak is 1."
    )
    head = ["SPORCO's example", "published, dB", "here, measured alike", "here, with a peak of 1"]
    return ["## SPORCO's published figures", text, table(head, rows)]
