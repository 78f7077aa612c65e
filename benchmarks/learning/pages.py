"""The page, stage by stage: each function gives the Markdown of one."""

from __future__ import annotations

from statistics import median

from ..markdown import count, noise, number, power, spread, table
from . import summary
from .entrants import DEFAULT


def yes(met: bool) -> str:
    return "yes" if met else "no"


def pictures(drawn: list[str]) -> list[str]:
    return [f"![{name}]({name})" for name in drawn]


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
        when = "not in this run" if arrival.seconds is None else number(arrival.seconds)
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


def batch(stage: dict, _: list[str]) -> list[str]:
    best, n = summary.reference(stage), stage["n_train"]
    ways = [("**default**", stage["default"])]
    ways += [(f'`revisit="{w["revisit"]}"`, {w["constraint"]}', w) for w in stage["ways"]]
    passes = stage["settings"]["passes"]
    rows = []
    for label, run in ways:
        points = [summary.after(run, n * (p + 1)) for p in range(passes)]
        values = ["–" if point is None else f"{point['value']:.3f}" for point in points]
        rows.append([label, *values, _excess(points[-1], best), *_end(points[-1], run)])
    for run in stage["references"]:
        last = min(run.get("points", []), key=lambda point: point["value"], default=None)
        values = ["–"] * (passes - 1) + ["–" if last is None else f"{last['value']:.3f}"]
        label = f"long batch run from {run['from']}, {run.get('steps', 0)} rounds"
        rows.append([label, *values, _excess(last, best), *_end(last, run)])
    head = ["", *(f"pass {p + 1}" for p in range(passes)), "above the reference"]
    text = (
        "A long batch run codes all images and fits the dictionary to these codes alone, over "
        'and over. With `"replace"` a signal\'s new codes take the place of its old ones in the '
        'statistics; with `"forget"` the old ones fade with p = 10. For batch runs the value '
        "stands in the last column of passes."
    )
    return ["## Several passes, and a long batch run", text, table([*head, "seconds", ""], rows)]


def _excess(point: dict | None, best: float | None) -> str:
    return "–" if point is None or best is None else f"{100 * (point['value'] / best - 1):+.2f} %"


def _end(point: dict | None, run: dict) -> list[str]:
    return ["–" if point is None else number(point["seconds"]), run.get("failed", "")]


def memory(stage: dict, _: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        megabytes = row.get("memory_mb")
        target = "" if row["target"] is None else f"≤ {row['target']:g} MB"
        if target and megabytes is not None:
            target += f": {yes(megabytes <= row['target'])}"
        found = row.get("failed") or ("–" if megabytes is None else f"{megabytes:g} MB")
        took = number(row.get("seconds"))
        rows.append([row["label"], str(row["images"]), found, target, took])
    text = (
        "Each in a fresh process: the most it ever held resident (VmHWM) less what it held with "
        "everything imported and the images loaded. Fetching compiled kernels counts."
    )
    head = ["", "images", "peak above the imports", "target", "seconds, fetching included"]
    return ["## Memory", text, table(head, rows)]


def update(stage: dict, _: list[str]) -> list[str]:
    rows = [
        [str(row["nnz"]), number(row["update_ms"]), number(row["iteration_ms"])]
        for row in stage.get("rows", [])
    ]
    head = ["nonzeros of the image's codes", "lag update, ms", "one FISTA iteration, ms"]
    text = "The update is of all statistics: fading, lags of the codes, and the linear term."
    return ["## Parts of a step", text, table(head, rows) if rows else stage.get("failed", "–")]


def masked(stage: dict, _: list[str]) -> list[str]:
    excess = summary.masked_excess(stage)
    rows = []
    for row in stage["rows"]:
        mask = "nothing hidden" if row["seed"] is None else f"mask {row['seed']}"
        found = row.get("failed") or f"{row['value']:.3f}"
        rows.append([row["label"], mask, found, number(row.get("seconds"))])
    middle = [
        [label, f"{100 * median(found):+.2f} %", spread([100 * e for e in found])]
        for label, found in excess.items()
    ]
    text = (
        f"{100 * stage['settings']['hidden']:g} % of the pixels of every photograph hidden at "
        "random; values after one pass, on test photographs that are whole."
    )
    return [
        "## Hidden pixels",
        text,
        table(["", "above clean, median", "min – max, %"], middle),
        table(["", "", "value", "seconds"], rows),
    ]


def steps(stage: dict, drawn: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        found = summary.growth(row)
        if found is None:
            rows.append([row["label"], row.get("failed", "–"), "", ""])
            continue
        memory = f"{found.memory_mb[0]:.1f} → {found.memory_mb[1]:.1f}"
        rows.append(
            [row["label"], f"{found.ms[0]:.3g} → {found.ms[1]:.3g}", memory, yes(found.flat)]
        )
    side = stage["settings"]["tile"]
    text = (
        f"One call of `partial_fit` a step on tiles of {side}×{side} ({stage['tiles']} different "
        "ones, over and over), from the second tenth of the steps to the last: flat means no "
        "slower by a fifth and no larger by 5 MB."
    )
    head = ["", "median ms a step", "MB above the first step", "flat"]
    return ["## Many small steps", text, *pictures(drawn), table(head, rows)]


def sizes(stage: dict, drawn: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        where = [row["label"], row["split"], f"{row['size']}²", str(row["batch"])]
        if "value" in row:
            found = [f"{row['value']:.3f}", number(row["seconds"]), str(row["steps"])]
        else:
            found = [row["failed"], "", ""]
        rows.append(where + found)
    text = (
        f"The same {stage['pixels'] / 1e6:.3g} million pixels, cut into pieces or put together, "
        "once through, with nothing else changed. Fewer steps leave less to learn from: where "
        "only a handful of steps are made, values must differ."
    )
    head = ["", "", "pieces", "batch", "value", "seconds", "steps"]
    return ["## Sizes of images and batches", text, *pictures(drawn), table(head, rows)]
