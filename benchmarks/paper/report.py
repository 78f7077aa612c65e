"""From the numbers to the page: claims first, then every result. Nothing is run here."""

from __future__ import annotations

from pathlib import Path

from ..markdown import made_with, noise, number, pictures, quick, table
from . import figures
from .claims import CLAIMS

TITLES = {
    "sgd-steps": "Step sizes of Algorithm 1",
    "sgd-table": "One step of Algorithm 1",
    "forgetting": "Forgetting exponent",
    "splitting": "Splitting",
    "tolerance": "Tolerance of FISTA",
    "surrogate-table": "One step of Algorithm 2",
    "main": "Main result I and III: convergence, dictionaries",
    "memory": "Main result II: memory",
    "noisy": "Learning from noisy images",
    "large": "A large set of images",
}


def render(data: dict, folder: Path) -> Path:
    """Write paper.md and its figures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = data["stages"]
    parts = ["# The paper, reproduced", _opening(stages), *_claims(stages)]
    for name, title in TITLES.items():
        stage = stages.get(name, {})
        if stage.get("curves") or stage.get("rows"):
            parts += [f"## {title}", *_stage(name, stage, folder)]
    parts += made_with(stages)
    page = folder / "paper.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _opening(stages: dict) -> str:
    missing = [name for name in TITLES if not stages.get(name, {}).get("complete")]
    text = (
        "Made by `python -m benchmarks paper all`; `python -m benchmarks report paper.json` draws "
        "it again from the numbers. J. Liu, C. Garcia-Cardona, B. Wohlberg and W. Yin, *First- and "
        "second-order methods for online convolutional dictionary learning* (2018): what they "
        "found, beside what these programs find on other photographs, on another machine. "
        "Values are mean functional values on test images, by one certified judge; training time "
        "excludes judging. Values compare within this page only."
    )
    if missing:
        text += f"\n\nNot yet run, or not to the end: {', '.join(missing)}."
    return text + quick(stages)


def _claims(stages: dict) -> list[str]:
    rows = [
        [TITLES[name], claim.words, claim.paper, claim.ours, claim.verdict]
        for name, found in CLAIMS.items()
        if stages.get(name, {}).get("curves") or stages.get(name, {}).get("rows")
        for claim in found(stages[name])
    ]
    head = ["", "claim", "the paper", "here", ""]
    return ["## Claims", table(head, rows)] if rows else []


def _stage(name: str, stage: dict, folder: Path) -> list[str]:
    if "curves" not in stage:
        return [_rows(stage)]
    drawn = figures.curves(name, stage, folder)
    busy = [curve.get("cores_busy_elsewhere") for curve in stage["curves"].values()]
    return [*noise(busy), *pictures(drawn), _curves(stage)]


def _curves(stage: dict) -> str:
    rows = []
    for curve in stage["curves"].values():
        if "failed" in curve:
            rows.append([curve["label"], "–", "–", "–", "–", curve["failed"]])
            continue
        end, facts = curve["points"][-1], curve["facts"]
        loops = facts.get("fista_per_step")
        rows.append(
            [
                curve["label"],
                number(end["images"]),
                number(end["seconds"]),
                f"{end['value']:.3f}",
                "–" if loops is None else f"{loops:.1f}",
                "stopped when its time was spent" if curve.get("ended_early") else "",
            ]
        )
    head = ["", "images", "seconds", "value", "FISTA iterations a step", ""]
    return f"Value of the first dictionary: {stage['start']:.2f}.\n\n" + table(head, rows)


def _rows(stage: dict) -> str:
    """A table of single steps, or of memory."""
    rows = []
    for row in stage["rows"]:
        if "failed" in row:
            rows.append([row["label"], str(row.get("size", "")), *["–"] * 5, row["failed"]])
            continue
        parts = [row.get(k) for k in ("coding_paper", "coding_working_set", "update", "fista_step")]
        times = ["–" if part is None else number(1e3 * part) for part in parts]
        size = f"{row['size']}²" if "size" in row else ""
        rows.append([row["label"], size, *times, f"{row['memory_mb']:.0f}", ""])
    head = ["", "signal", "ADMM coding, ms", "our coding, ms", "update, ms", "FISTA step, ms"]
    return table([*head, "memory, MB", ""], rows)
