"""From the raw runs to the few numbers that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import median

import numpy as np


@dataclass(frozen=True)
class Claim:
    """A ratio of two times, how large it should be, and what every image gave."""

    text: str
    target: float
    ratios: list[float]
    n_images: int  # fewer ratios than images: on the others somebody did not arrive

    @property
    def middle(self) -> float | None:
        return median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool:
        return bool(self.ratios) and len(self.ratios) == self.n_images and (
            self.middle >= self.target
        )  # fmt: skip


def _against_fastest(images: list[dict]) -> list[float]:
    """A setting found on a few images need not be the faster one on every other."""
    ratios = []
    for runs in (image["contenders"] for image in images):
        rivals = [runs[k]["median_seconds"] for k in ("sporco_paper", "sporco_fast") if k in runs]
        if "ours_to_target" in runs:
            ratios.append(min(rivals) / runs["ours_to_target"]["median_seconds"])
    return ratios


def claims(main: dict) -> list[Claim]:
    images = main["images"]

    def ratio(text: str, target: float, slow: str, fast: str) -> Claim:
        pairs = [image["contenders"] for image in images]
        found = [
            runs[slow]["median_seconds"] / runs[fast]["median_seconds"]
            for runs in pairs
            if slow in runs and fast in runs
        ]
        return Claim(text, target, found, len(images))

    tol = main["settings"]["certificate"]
    certified = f"a certified gap of {tol:g}, against SPORCO's own uncertified stop"
    return [
        ratio(
            "SPORCO's objective, against SPORCO at the paper's settings",
            60, "sporco_paper", "ours_to_target",
        ),
        Claim(
            "SPORCO's objective, against the faster of SPORCO tuned and at the paper's settings",
            30, _against_fastest(images), len(images),
        ),
        ratio(certified, 40, "sporco_paper", "ours_certified"),
    ]  # fmt: skip


def warm_claim(warm: dict) -> Claim:
    first = [image["rows"][0] for image in warm["images"]]
    ratios = [row["cold_seconds"] / row["warm_seconds"] for row in first]
    text = "a warm start, against a cold one: codes of the dictionary one small step earlier"
    return Claim(text, 5, ratios, len(first))


LABELS = {
    "sporco_paper": "SPORCO ADMM, paper's settings",
    "sporco_fast": "SPORCO ADMM, fastest, to the same objective",
    "fista_to_target": "dense FISTA, to the same objective",
    "fista_certified": "dense FISTA, certified",
    "ours_to_target": "convdict, to the same objective",
    "ours_certified": "convdict, certified",
    "ours_admm_certified": 'convdict, `solver="admm"`, certified',
    "ours_fista_certified": 'convdict, `solver="fista"`, certified',
}


@dataclass(frozen=True)
class Row:
    """One contender over all the images on which it ran."""

    label: str
    n_images: int
    seconds: list[float]
    excess: list[float]  # objective over SPORCO's, as a fraction of it
    gaps: list[float]
    density: float


def contenders(main: dict) -> list[Row]:
    rows = []
    for key, label in LABELS.items():
        runs = [
            (image["contenders"][key], image["target"])
            for image in main["images"]
            if key in image["contenders"]
        ]
        if runs:
            rows.append(
                Row(
                    label,
                    len(runs),
                    [run["median_seconds"] for run, _ in runs],
                    [run["objective"] / target - 1.0 for run, target in runs],
                    [run["gap"] for run, _ in runs],
                    median(run["density"] for run, _ in runs),
                )
            )
    return rows


def sweeps(scaling: dict) -> dict[str, dict[str, list[dict]]]:
    """{sweep: {solver: rows that came back}}, in the order they were run."""
    found: dict[str, dict[str, list[dict]]] = {}
    for row in scaling["rows"]:
        if "failed" not in row:
            found.setdefault(row["sweep"], {}).setdefault(row["solver"], []).append(row)
    return found


def slope(x: Sequence[float], y: Sequence[float | None]) -> float | None:
    """The power p of the best fit y ∝ x^p to the three largest x, beyond fixed costs."""
    points = [(log(a), log(b)) for a, b in zip(x, y, strict=True) if a > 0 and b and b > 0]
    points = sorted(points)[-3:]
    if len(points) < 2 or len({a for a, _ in points}) < 2:
        return None
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def along(sweep: str, row: dict) -> float:
    """Where a row lies on its sweep's axis: for the penalty, by the density it led to."""
    return row["density"] if sweep == "penalty" else row["value"]
