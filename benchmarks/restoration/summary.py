"""From the raw rows to the few numbers that a page shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log10
from statistics import median

from ..rivals.sporco_restoration import MADE_FOR, PUBLISHED_FILLED, PUBLISHED_NOISE_OUT, SHARE

OURS = "ours"


def row_of(case: dict, key: str) -> dict | None:
    """Somebody's row, unless there is none or it failed."""
    found = (row for row in case["rows"] if row["key"] == key and "psnr" in row)
    return next(found, None)


def best(case: dict) -> dict:
    """The row with the highest PSNR."""
    return max((row for row in case["rows"] if "psnr" in row), key=lambda row: row["psnr"])


def winners(stage: dict) -> dict[str, int]:
    """How often each method has the highest PSNR, the most frequent first."""
    return dict(Counter(best(case)["label"] for case in stage["cases"]).most_common())


@dataclass(frozen=True)
class Against:
    """convdict against somebody, case by case."""

    label: str
    times_faster: list[float]
    above: list[float]  # dB


def against_sporco(stage: dict) -> Iterator[Against]:
    for key in ("sporco", "sporco_tuned", "sporco_kept"):
        both = ((row_of(case, key), row_of(case, OURS)) for case in stage["cases"])
        pairs = [(them, us) for them, us in both if them and us]
        if pairs:
            yield Against(
                pairs[0][0]["label"],
                [median(them["seconds"]) / median(us["seconds"]) for them, us in pairs],
                [us["psnr"] - them["psnr"] for them, us in pairs],
            )


@dataclass(frozen=True)
class Reproduced:
    """One of SPORCO's examples: dB on its page, and here."""

    example: str
    published: float
    found: float  # by SPORCO's measure, whose peak is the range of the truth
    psnr: float  # by ours, whose peak is 1


def reproduced(stages: dict) -> Iterator[Reproduced]:
    kinds = (
        ("denoise", "noise out of", "sigma", MADE_FOR, PUBLISHED_NOISE_OUT),
        ("inpaint", "holes in", "hidden", SHARE, PUBLISHED_FILLED),
    )
    for stage, what, strength, its_own, published in kinds:
        for case in stages.get(stage, {"cases": []})["cases"]:
            row = row_of(case, "sporco")
            its_case = case[strength] == its_own and case["name"] in published
            if row and its_case and _as_published(case, stages[stage]["settings"]):
                found = row["psnr"] + 20.0 * log10(case["range"])
                example = f"{what} {case['name']}"
                yield Reproduced(example, published[case["name"]], found, row["psnr"])


def _as_published(case: dict, told: dict) -> bool:
    """A whole picture, and as many iterations as the examples take."""
    whole = told["side"] is None or told["side"] > max(case["shape"][:2])
    return whole and told["sporco_iterations"] is None
