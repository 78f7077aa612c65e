"""From a result to a page: Markdown and figures. Nothing is run here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..markdown import count, made_with, number, quick, table, yes
from . import figures, pages, race_page, summary

STAGES: dict[str, tuple[Callable[[dict, list[str]], list[str]], Callable | None]] = {
    "race": (race_page.race, figures.race),
    "batch": (pages.batch, None),
    "memory": (pages.memory, None),
    "update": (pages.update, None),
    "masked": (pages.masked, None),
    "steps": (pages.steps, figures.steps),
    "sizes": (pages.sizes, figures.sizes),
    "reading": (pages.reading, None),
    "sharpness": (pages.sharpness, None),
    "domains": (pages.domains, None),
}


def render(data: dict, folder: Path) -> Path:
    """Write learning.md and its figures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = data["stages"]
    parts = ["# Learning a dictionary", _opening(stages), *_goals(stages)]
    for name, (write, draw) in STAGES.items():
        if name in stages and len(stages[name]) > 2:  # more than settings and provenance
            parts += write(stages[name], draw(stages[name], folder) if draw else [])
    parts += made_with(stages)
    page = folder / "learning.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _opening(stages: dict) -> str:
    text = (
        "Made by `python -m benchmarks learning`; `python -m benchmarks report learning.json` "
        "draws it again from the numbers."
    )
    if stages:
        stage = next(iter(stages.values()))
        told = stage["settings"]
        text += (
            f" {count(stage.get('n_train', told['n_train']), 'photograph')} to learn from and "
            f"{stage.get('n_test', told['n_test'])} to judge by "
            f"({stage.get('photographs', 'photographs')}), {told['size']}×{told['size']}, "
            f"high-passed; {told['n_kernels']} kernels of {told['kernel']}×{told['kernel']}, "
            f"λ = {told['penalty']:g}. Everybody starts from the same Gaussian noise and gets "
            "the same images in the same order; our default settings mix the tiles of a few "
            "images at a time, as they do for any user, and several passes draw an order each."
            "\n\n"
            "The value of a dictionary is the mean, over the images to judge by, of the least "
            "objective that any codes reach with it. One certified solver finds the codes for "
            "everybody's dictionary, to a relative duality gap of "
            f"{number(told['certificate'])}; objective and gap are recomputed in float64 by a "
            "judge that shares no code with anybody. Lower is better. Judging is not on "
            "anybody's clock, nor is compiling or planning."
        )
    return text + quick(stages)


def _goals(stages: dict) -> list[str]:
    rows = [[g.text, g.wanted, g.found, yes(g.met)] for g in summary.goals(stages)]
    return ["## Goals", table(["", "wanted", "found", "met"], rows)] if rows else []
