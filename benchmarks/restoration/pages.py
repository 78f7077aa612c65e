"""The page, stage by stage: each function gives the Markdown of one."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from ..markdown import count, noise, number, pictures, spread, table
from . import summary


def denoise(stage: dict, drawn: list[str]) -> list[str]:
    told = stage["settings"]
    times = ", ".join(f"{t:g}" for t in told["told"])
    text = (
        "White noise of standard deviation σ. Everybody is told σ, but for convdict in the second "
        "row, and what comes back is clipped to [0, 1]. SPORCO's example was made for σ = 0.1: for "
        "other noise it gets the picture scaled until its noise is that. Rivals are shown at their "
        f"best: SPORCO is also told the one of {times} times σ that is best on the middle of this "
        "very picture, and total variation and wavelets take the weight and the wavelet that come "
        "nearest the truth; none of this search is on the clock. convdict and non-local means "
        "(5×5 patches, exact, h = 0.8 σ) take nothing from the truth."
    )
    return ["## Noise out", text, *_common(stage, drawn, "σ", lambda case: f"{case['sigma']:g}")]


def inpaint(stage: dict, drawn: list[str]) -> list[str]:
    text = (
        "Samples hidden at random; in colour each channel has its own. SPORCO's example explains "
        "what was seen as well as it can and shows that, where everybody else lets it stand: a "
        "second row puts it back, at no cost. Its penalties are those for half of the samples."
    )
    return [
        "## Holes filled",
        text,
        *_common(stage, drawn, "hidden", lambda case: f"{100 * case['hidden']:g} %"),
    ]


def _common(
    stage: dict, drawn: list[str], strength: str, words: Callable[[dict], str]
) -> list[str]:
    cases = stage["cases"]
    parts = noise([case.get("cores_busy_elsewhere") for case in cases])
    parts += [_winners(stage), _against(stage), *pictures(drawn)]
    rows = [line for case in cases for line in _lines(case, words(case))]
    head = ["picture", strength, "", "PSNR, dB", "SSIM", "seconds", "setting"]
    return [*parts, table(head, rows)]


def _winners(stage: dict) -> str:
    found = summary.winners(stage)
    ranks = ", ".join(f"{label} {n}" for label, n in found.items())
    return f"Highest PSNR, of {count(len(stage['cases']), 'case')}: {ranks}."


def _against(stage: dict) -> str:
    rows = [
        [
            found.label,
            str(len(found.above)),
            number(median(found.times_faster)),
            spread(found.times_faster),
            f"{median(found.above):+.2f}",
            f"{min(found.above):+.2f} – {max(found.above):+.2f}",
        ]
        for found in summary.against_sporco(stage)
    ]
    head = ["convdict against", "cases", "its time, over ours", "min – max"]
    return table([*head, "our PSNR above its, dB", "min – max"], rows)


def _lines(case: dict, strength: str) -> list[list[str]]:
    """A line for everybody, the highest PSNR in bold."""
    first = summary.best(case)
    return [_line([case["name"], strength], row, row is first) for row in case["rows"]]


def _line(where: list[str], row: dict, first: bool) -> list[str]:
    if "failed" in row:
        return [*where, row["label"], "–", "–", "–", row["failed"]]
    psnr = f"{row['psnr']:.2f}"
    seconds = number(median(row["seconds"])) if "seconds" in row else ""
    found = [f"**{psnr}**" if first else psnr, f"{row['ssim']:.3f}", seconds]
    return [*where, row["label"], *found, row.get("setting", "")]
