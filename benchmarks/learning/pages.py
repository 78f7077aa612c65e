"""The page, stage by stage: each function gives the Markdown of one."""

from __future__ import annotations

from statistics import median

from ..markdown import number, pictures, spread, table, yes
from . import summary


def batch(stage: dict, _: list[str]) -> list[str]:
    best, n = summary.reference(stage), stage["n_train"]
    ways = [("**default**", stage["default"])]
    ways += [
        (f'{w["constraint"]}, `revisit="{w["revisit"]}"`, `lookahead={w["lookahead"]:g}`', w)
        for w in stage["ways"]
    ]
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
        'statistics; with `"forget"` the old ones fade with p = 10. `lookahead=0` codes with the '
        "surrogate's minimum, as the paper does. For batch runs the value stands in the last "
        "column of passes."
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


def reading(stage: dict, _: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        slower = [100 * (f / a - 1) for f, a in zip(row["files"], row["arrays"], strict=True)]
        times = [number(median(row[name])) for name in ("arrays", "files")]
        rows.append([row["label"], *times, f"{median(slower):+.1f} %", spread(slower)])
    text = (
        "One pass over 8-bit files, decoded and prepared in the background, against the same "
        "signals prepared in memory beforehand; turn by turn, medians."
    )
    head = ["files", "arrays, s", "files, s", "slower, median", "min – max, %"]
    return ["## Reading files", text, table(head, rows)]


def sharpness(stage: dict, _: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        points = row.get("points", [])
        cells = [text for p in points for text in (number(p["seconds"]), f"{p['value']:.3f}")]
        rows.append([f"{row['gap']:g}", *(cells or ["–"] * 4), row.get("failed", "")])
    text = (
        "The relative duality gap that codes may have while learning. If sharper codes from the "
        "beginning do not lead to a better dictionary, codes that become sharper later do not "
        "either."
    )
    passes = stage["settings"]["passes"]
    head = ["`coding_tol`", "one pass, s", "value", f"{passes} passes, s", "value", ""]
    return ["## How sharp codes have to be", text, table(head, rows)]


def domains(stage: dict, _: list[str]) -> list[str]:
    rows = []
    for row in stage["rows"]:
        name = f"{row['method']}, {row['domain']}"
        if "failed" in row:
            rows.append([name, "–", "–", "–", "–", row["failed"]])
            continue
        first, last = row["points"][0], row["points"][-1]
        ended = f"{last['images']:.3g} images, {number(last['seconds'])} s: {last['value']:.3f}"
        rows.append(
            [
                name,
                number(row["ms_per_step"]),
                f"{first['images']:.3g}",
                f"{first['value']:.3f}",
                ended,
                "",
            ]
        )
    side = stage["settings"]["size"] // 4
    text = (
        f"Both methods in every domain, on tiles of {side}×{side} in the order given: one pass, or "
        f"{stage['settings']['slow_budget'] / 2:g} seconds. In exact arithmetic all domains of a "
        "method have the same dictionaries; here rough codes make more of every rounding."
    )
    head = ["", "ms a step", "after images", "value", "in the end", ""]
    return ["## Every method, every domain", text, table(head, rows)]
