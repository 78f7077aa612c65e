"""From the raw runs to the few numbers that a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from .entrants import DEFAULT, ENTRANTS

PAPER, HURRIED = "sporco_paper", "sporco_hurried"


@dataclass(frozen=True)
class Goal:
    """Something that should hold: what was wanted and what was found, in words."""

    text: str
    wanted: str
    found: str
    met: bool


def time_to(points: Sequence[dict], target: float, start: float | None = None) -> float | None:
    """Seconds until the value is first at most `target`, on straight lines between the looks.

    `start` is the value at zero seconds. None where the target is never reached.
    """
    before = None if start is None else (0.0, start)
    for point in points:
        now = point["seconds"], point["value"]
        if now[1] <= target:
            if before is None or before[1] <= target:
                return now[0] if before is None else before[0]
            share = (before[1] - target) / (before[1] - now[1])
            return before[0] + share * (now[0] - before[0])
        before = now
    return None


@dataclass(frozen=True)
class Arrival:
    """When somebody had the value that SPORCO has after one pass at the paper's settings."""

    key: str
    label: str
    seconds: float | None


def arrivals(race: dict) -> list[Arrival]:
    start = race["start"]["value"]
    found = [
        Arrival(key, curve["label"], time_to(curve.get("points", []), race["target"], start))
        for key, curve in race["curves"].items()
        if "target" in race and not key.endswith("_passes")
    ]
    return sorted(found, key=lambda a: (a.seconds is None, a.seconds))


def fastest_sporco(race: dict) -> Arrival | None:
    """At whatever settings; the paper's are among them."""
    theirs = [a for a in arrivals(race) if a.key.startswith(("sporco_paper", HURRIED))]
    return theirs[0] if theirs and theirs[0].seconds is not None else None


def after(curve: dict, images: float) -> dict | None:
    """The point after so many images, exactly or nearly."""
    near = [p for p in curve.get("points", []) if abs(p["images"] - images) < 0.02 * images]
    return min(near, key=lambda p: abs(p["images"] - images)) if near else None


def goals(stages: dict) -> list[Goal]:
    makers = {
        "race": _race,
        "batch": _batch,
        "memory": _memory,
        "update": _update,
        "masked": _masked,
        "steps": _steps,
        "reading": _reading,
    }
    return [goal for name, make in makers.items() if name in stages for goal in make(stages[name])]


def _race(race: dict) -> Iterator[Goal]:
    when = {a.key: a for a in arrivals(race)}
    fastest = fastest_sporco(race)
    mine, paper = when.get(DEFAULT), when.get(PAPER)
    against = [("at the paper's settings", 60.0, paper), ("at its fastest", 10.0, fastest)]
    for how, wanted, them in against:
        text = f"times sooner at SPORCO's value after one pass than SPORCO {how}"
        if mine and them and mine.seconds and them.seconds:
            ratio = them.seconds / mine.seconds
            yield Goal(text, f"≥ {wanted:g}", f"{ratio:.3g}", ratio >= wanted)
        else:
            yield Goal(text, f"≥ {wanted:g}", "not reached", False)
    n = race["n_train"]
    values = {key: after(curve, n) for key, curve in race["curves"].items() if "_passes" not in key}
    one_pass = {key: point["value"] for key, point in values.items() if point}
    own = {e.key for e in ENTRANTS if e.key.startswith("surrogate_lag")}
    best = min((v for k, v in one_pass.items() if k not in own), default=None)
    if DEFAULT in one_pass and best is not None:
        value = one_pass[DEFAULT]
        text = "value after one pass, the default against the best of all other methods"
        yield Goal(text, f"≤ {best:.3f}", f"{value:.3f}", value <= best)


def reference(batch: dict) -> float | None:
    """The lowest value of any long batch run."""
    runs = [run["points"] for run in batch["references"] if run.get("points")]
    return min((point["value"] for points in runs for point in points), default=None)


def _batch(batch: dict) -> Iterator[Goal]:
    best, points = reference(batch), batch["default"].get("points")
    if best is not None and points:
        excess = points[-1]["value"] / best - 1.0
        passes = batch["settings"]["passes"]
        text = f"value after {passes} passes above that of a long batch run"
        yield Goal(text, "≤ 0.5 %", f"{100 * excess:+.2f} %", excess <= 0.005)


def _memory(memory: dict) -> Iterator[Goal]:
    for row in memory["rows"]:
        if row["target"] is not None and row.get("memory_mb") is not None:
            text = f"peak memory above the imports, {row['label']}, {row['images']} images"
            met = row["memory_mb"] <= row["target"]
            yield Goal(text, f"≤ {row['target']:g} MB", f"{row['memory_mb']:g} MB", met)


def _update(update: dict) -> Iterator[Goal]:
    kinds = (
        ("update_ms", "one update of the lags", 10.0),
        ("iteration_ms", "one iteration of FISTA", 1.0),
    )
    for key, text, wanted in kinds:
        if update.get("rows"):
            found = median(row[key] for row in update["rows"])
            yield Goal(text, f"≤ {wanted:g} ms", f"{found:.3g} ms", found <= wanted)


def masked_excess(masked: dict) -> dict[str, list[float]]:
    """By method: the value above that of clean images, as a fraction of it, mask by mask."""
    found: dict[str, list[float]] = {}
    clean = {r["label"]: r["value"] for r in masked["rows"] if r["seed"] is None and "value" in r}
    for row in masked["rows"]:
        if row["seed"] is not None and "value" in row and row["label"] in clean:
            found.setdefault(row["label"], []).append(row["value"] / clean[row["label"]] - 1.0)
    return found


def _masked(masked: dict) -> Iterator[Goal]:
    share = masked["settings"]["hidden"]
    for label, excess in masked_excess(masked).items():
        if label.startswith("surrogate"):
            middle, worst = median(excess), max(excess)
            text = f"{100 * share:g} % of the pixels hidden: value above that of clean images"
            found = f"{100 * middle:+.2f} %, at worst {100 * worst:+.2f} %"
            yield Goal(text, "≤ 1 %", found, middle <= 0.01)


@dataclass(frozen=True)
class Growth:
    """From the second tenth of a run to its last tenth."""

    ms: tuple[float, float]
    memory_mb: tuple[float, float]

    @property
    def flat(self) -> bool:
        """No slower by a fifth, no larger by 5 MB."""
        return self.ms[1] <= 1.2 * self.ms[0] and self.memory_mb[1] - self.memory_mb[0] <= 5.0


def growth(row: dict) -> Growth | None:
    if not row.get("step") or None in row["memory_mb"]:
        return None
    n = len(row["step"])
    early, late = slice(n // 10, max(n // 5, n // 10 + 1)), slice(-max(n // 10, 1), None)
    ms, memory = np.array(row["ms"]), np.array(row["memory_mb"])
    return Growth((fmean(ms[early]), fmean(ms[late])), (fmean(memory[early]), fmean(memory[late])))


def _steps(steps: dict) -> Iterator[Goal]:
    for row in steps["rows"]:
        found = growth(row)
        if found:
            text = f"{row['step'][-1]} steps on tiles, {row['label']}: first to last tenths"
            words = (
                f"{found.ms[0]:.3g} → {found.ms[1]:.3g} ms, "
                f"{found.memory_mb[1] - found.memory_mb[0]:+.1f} MB"
            )
            yield Goal(text, "time and memory flat", words, found.flat)


def _reading(reading: dict) -> Iterator[Goal]:
    """The ratio of each pair of runs, and of these the median."""
    for row in reading["rows"]:
        pairs = zip(row["files"], row["arrays"], strict=True)
        slower = median(files / arrays - 1 for files, arrays in pairs)
        text = f"learning from {row['label']} files slower than from memory"
        yield Goal(text, "≤ 5 %", f"{100 * slower:+.1f} %", slower <= 0.05)
