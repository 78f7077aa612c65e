"""What the page says of the race."""

from __future__ import annotations

from ..markdown import count, noise, number, pictures, power, table
from . import summary
from .entrants import DEFAULT


def race(stage: dict, drawn: list[str]) -> list[str]:
    target = stage.get("target")
    parts = ["## Value against time", *pictures(drawn)]
    parts += noise([stage.get("cores_busy_elsewhere")])
    if target is not None:
        parts += [
            f"### To SPORCO's value after one pass, {target:.3f}",
            "SPORCO's value after one pass at the paper's settings, and when everybody first had "
            "it, on straight lines between the looks. SPORCO at the paper's settings ran once; "
            f"our times are medians of {stage['settings']['repeats']} runs.",
            _arrivals(stage),
        ]
    parts += ["### One pass and more", _notes(stage), _values(stage)]
    return parts + _search(stage)


def _arrivals(stage: dict) -> str:
    arrivals = summary.arrivals(stage)
    paper = next((a.seconds for a in arrivals if a.key == summary.PAPER), None)
    fastest = summary.fastest_sporco(stage)
    rows = []
    for arrival in arrivals:
        name = f"**{arrival.label}**" if arrival.key == DEFAULT else arrival.label
        if fastest and arrival.key == fastest.key:
            name += " (SPORCO's fastest)"
        against = [_ratio(seconds, arrival.seconds) for seconds in
                   (paper, fastest.seconds if fastest else None)]  # fmt: skip
        when = "not reached" if arrival.seconds is None else number(arrival.seconds)
        rows.append([name, when, *against])
    return table(["", "seconds", "SPORCO's time, over this", "its fastest, over this"], rows)


def _ratio(theirs: float | None, mine: float | None) -> str:
    return number(theirs / mine) if theirs and mine else "–"


def _notes(stage: dict) -> str:
    return (
        "Seconds and value after so many images. scikit-learn learns to write patches, each in "
        f"its own place ({stage['settings']['n_patches']} random ones of every image, the same "
        "λ); its atoms are normalised and judged as kernels of a convolution, for which they "
        "were not made: that row says what shift-invariant learning gains, not who is the "
        "better program."
    )


def _values(stage: dict) -> str:
    n = stage["n_train"]
    passes = stage["settings"]["passes"]
    wanted = sorted({max(n // 8, 1), max(n // 4, 1), max(n // 2, 1), n, 2 * n, passes * n})
    rows = []
    for curve in stage["curves"].values():
        found = [summary.after(curve, images) for images in wanted]
        cells = ["–" if p is None else f"{p['seconds']:.3g} s: {p['value']:.3f}" for p in found]
        gaps = [point["gap"] for point in curve.get("points", [])]
        note = curve.get("failed") or curve.get("stopped") or ""
        if curve.get("runs_differ_by", 0.0) > 1e-4:
            note += f" repeated runs differ by up to {curve['runs_differ_by']:.1g}"
        rows.append([curve["label"], *cells, power(max(gaps)) if gaps else "–", note])
    start = stage["start"]
    blank = ["–"] * len(wanted)
    rows.insert(0, ["start", *blank, power(start["gap"]), f"value {start['value']:.3f}"])
    head = [count(images, "image") for images in wanted]
    return table(["", *head, "worst gap", ""], rows)


def _search(stage: dict) -> list[str]:
    search = stage.get("search")
    if not search:
        return []
    paper = search["paper"]
    rows = [
        [
            f"**{row['setting']}**" if i in search["finalists"] else row["setting"],
            number(row["seconds"]),
            f"{row['value']:.3f}",
        ]
        for i, row in enumerate(search["rows"])
    ]
    return [
        "### SPORCO at its fastest",
        f"After {search['images']} images: no statistics (`FastSolve`), cached factor "
        "(`HighMemSolve`), no residual stop, FFTs on the number of threads that is faster "
        f"({search['threads']}). At the paper's settings: {number(paper['seconds'])} s and "
        f"{paper['value']:.3f} after {paper['images']:.3g} images. For each number of iterations "
        "the best setting, in bold, ran in full, and on into a second pass until it had the value.",
        table(["setting", "seconds", "value"], rows),
    ]
