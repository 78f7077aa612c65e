"""From a result to a page: Markdown and figures. Nothing is run here."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from . import figures, summary
from .markdown import count, made_with, noise, number, power, quick, signed, spread, table

SOLVERS = {"working_set": "convdict", "sporco": "SPORCO, paper's settings"}
AXES = {"pixels": "pixels", "kernels": "kernels", "kernel size": "kernel side", "penalty": "λ"}


def render(data: dict, folder: Path) -> Path:
    """Write coding.md and its figures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = data["stages"]
    parts = ["# Coding one image", _opening(stages)]
    if "main" in stages and stages["main"].get("images"):
        drawn = figures.main(stages["main"], folder)
        parts += _main(stages["main"], drawn)
    if "warm" in stages and stages["warm"].get("images"):
        parts += _warm(stages["warm"])
    if "memory" in stages:
        parts += _memory(stages["memory"])
    if "scaling" in stages:
        drawn = figures.scaling(stages["scaling"], folder)
        parts += _scaling(stages["scaling"], drawn)
    if "profile" in stages and stages["profile"].get("rows"):
        parts += _profile(stages["profile"])
    parts += made_with(stages)
    page = folder / "coding.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _opening(stages: dict) -> str:
    text = (
        "Made by `python -m benchmarks coding`; `python -m benchmarks report coding.json` draws it "
        "again from the numbers. Everybody gets the same float32 arrays. Objective and duality "
        "gap are always those of one judge: recomputed in float64 from the codes that were "
        "returned, by code that neither we nor a rival use. Times are wall-clock, after compiling "
        "and planning."
    )
    return text + quick(stages)


def _main(main: dict, drawn: list[str]) -> list[str]:
    told, images = main["settings"], main["images"]
    size, n = told["size"], len(images)
    what = (
        f"{count(n, 'photograph')} of {size}×{size} ({main['photographs']}), dictionary "
        f"{told['dictionary']}, λ = {told['penalty']:g}. Time ratios, image by image:"
    )
    rows = [
        [
            row.label,
            str(row.n_images),
            number(median(row.seconds)),
            spread(row.seconds),
            signed(median(row.excess)),
            power(max(row.gaps)),
            f"{100 * row.density:.2g} %",
        ]
        for row in summary.contenders(main)
    ]
    columns = ["", "images", "seconds", "min – max", "objective − SPORCO's", "worst gap", "density"]
    return [
        "## Against SPORCO",
        what,
        _claims(summary.claims(main)),
        *noise([image.get("cores_busy_elsewhere") for image in images]),
        *[f"![{name}]({name})" for name in drawn],
        "### Everybody's time",
        "Medians over the images; the objective relative to that of SPORCO at the paper's "
        'settings, below zero is better. "To the same objective" means: to the judged objective '
        "at which SPORCO stopped, with an oracle's help for everybody: SPORCO and FISTA run "
        "exactly the least number of iterations that gets there (for a certificate: the least "
        "multiple of ten, the looking not on FISTA's bill), convdict runs at the loosest "
        f"`tol` of the grid {', '.join(f'{tol:g}' for tol in told['tolerances'])} that does.",
        table(columns, rows),
        *_search(main),
        *_per_image(images),
    ]


def _search(main: dict) -> list[str]:
    search = main.get("search")
    if not search:
        return []
    best = search["fastest"]
    rows = [
        [
            f"**{row['setting']}**" if i == best else row["setting"],
            ", ".join("–" if k is None else str(k) for k in row["iterations"]),
            ", ".join("–" if s is None else number(s) for s in row["seconds"]),
        ]
        for i, row in enumerate(search["settings"])
    ]
    numexpr = main["provenance"]["versions"].get("numexpr")
    return [
        "### SPORCO at its fastest",
        "No statistics (`FastSolve`), cached factor (`HighMemSolve`), no residual stop, "
        f"numexpr {numexpr or 'not installed'}. "
        "Iterations and seconds to the objective of its default run, on the first "
        f"{count(len(search['settings'][0]['iterations']), 'image')}; – means not within one and "
        "a half times the best time so far. The setting in bold ran on every image.",
        table(["setting", "iterations", "seconds"], rows),
    ]


def _warm(warm: dict) -> list[str]:
    kinds: dict[str, list[dict]] = {}
    for image in warm["images"]:
        for row in image["rows"]:
            kinds.setdefault(row["dictionary"], []).append(row)
    rows = [
        [
            name,
            f"{100 * median(r['moved_by'] for r in rows):.2g} %",
            number(median(r["cold_seconds"] for r in rows)),
            number(median(r["warm_seconds"] for r in rows)),
            number(median(r["cold_seconds"] / r["warm_seconds"] for r in rows)),
            power(max(max(r["cold_gap"], r["warm_gap"]) for r in rows)),
        ]
        for name, rows in kinds.items()
    ]
    head = ["the dictionary moved", "that is", "cold, s", "warm, s", "ratio", "worst gap"]
    return [
        "## Warm start",
        f"{count(len(warm['images']), 'photograph')} ({warm['photographs']}), `init=` the "
        "certified codes of the dictionary before; both are certified again. Medians.",
        _claims([summary.warm_claim(warm)]),
        *noise([image["cores_busy_elsewhere"] for image in warm["images"]]),
        table(head, rows),
    ]


def _claims(claims: list[summary.Claim]) -> str:
    rows = [
        [
            claim.text,
            f"≥ {claim.target:g}",
            number(claim.middle),
            spread(claim.ratios),
            f"{sum(r >= claim.target for r in claim.ratios)} of {claim.n_images}",
            "yes" if claim.met else "no",
        ]
        for claim in claims
    ]
    head = ["times faster", "target", "median", "min – max", "images above", "met"]
    return table(head, rows)


def _per_image(images: list[dict]) -> list[str]:
    keys = ("sporco_paper", "sporco_fast", "ours_to_target", "ours_certified")
    rows = []
    for image in images:
        runs = image["contenders"]
        seconds = [number(runs[k]["median_seconds"]) if k in runs else "–" for k in keys]
        found = runs.get("ours_to_target", {"setting": "–", "objective": float("nan")})
        rows.append(
            [
                image["name"],
                *seconds,
                f"{image['target']:.4f}",
                f"{found['objective']:.4f}",
                found["setting"].split("tol=")[-1],
                f"{runs['ours_certified']['objective']:.4f}",
                power(runs["ours_certified"]["gap"]),
            ]
        )
    head = ["image", "SPORCO, s", "fastest, s", "convdict, s", "certified, s"]
    head += ["SPORCO's objective", "convdict's", "at tol", "certified", "its gap"]
    return ["### Image by image", table(head, rows)]


def _memory(memory: dict) -> list[str]:
    rows = []
    for row in memory["rows"]:
        label = SOLVERS.get(row["solver"], f'convdict, `solver="{row["solver"]}"`')
        if "failed" in row:
            rows.append([label, f"{row['size']}²", row["failed"], "", "", "", ""])
            continue
        target = ""
        if row["solver"] == "working_set" and row["size"] in (256, 4096):
            limit = {256: 80.0, 4096: 1500.0}[row["size"]]
            met = row["memory_mb"] is not None and row["memory_mb"] <= limit
            target = f"≤ {limit:g} MB: {'yes' if met else 'no'}"
        seconds, gap = number(row["seconds"]), power(row["gap"])
        used = f"{row['memory_mb']:g} MB" if row["memory_mb"] is not None else "–"
        imports = number(row["imports_mb"])
        rows.append([label, f"{row['size']}²", used, target, seconds, gap, imports])
    head = ["", "image", "peak above the imports", "target", "seconds, first call", "gap"]
    text = (
        "Each in a fresh process: the most it ever held resident (VmHWM) less what it held with "
        "everything imported and its input loaded. Compiled kernels were on the disk beforehand; "
        "fetching them counts, in memory and in time."
    )
    return ["## Memory", text, table([*head, "imports, MB"], rows)]


def _scaling(scaling: dict, drawn: list[str]) -> list[str]:
    parts = ["## Scaling"]
    told = scaling["settings"]
    parts.append(
        f"Tolerance {told['scaling_tol']:g}; where nothing else is said {told['size']}×"
        f"{told['size']}, 64 kernels of 12×12, λ = {told['penalty']:g}. Counts and sizes of "
        "kernels vary on seeded random oriented waves. A slope p means: grows as the p-th power, "
        "over the three largest values. "
        f"FFT solvers stop at {told['fft_size_limit']}², for they hold dense maps."
    )
    parts += [f"![{name}]({name})" for name in drawn]
    rows, slopes = [], []
    for sweep, solvers in summary.sweeps(scaling).items():
        for solver, cells in solvers.items():
            x = [summary.along(sweep, cell) for cell in cells]
            against = "density" if sweep == "penalty" else AXES[sweep]
            powers = [
                summary.slope(x, [cell[key] for cell in cells]) for key in ("seconds", "memory_mb")
            ]
            slopes.append([against, solver, *("–" if p is None else f"{p:.2f}" for p in powers)])
            rows += [_cell(sweep, solver, cell) for cell in cells]
    parts.append(table(["against", "solver", "slope of time", "slope of memory"], slopes))
    failed = [row for row in scaling["rows"] if "failed" in row]
    for row in failed:
        why = [row["failed"], "", "", "", ""]
        rows.append([AXES[row["sweep"]], f"{row['value']:g}", row["solver"], *why])
    head = ["sweep", "value", "solver", "seconds", "memory, MB", "gap", "density", "ns per pixel"]
    return [*parts, "### Every point", table(head, rows)]


def _cell(sweep: str, solver: str, cell: dict) -> list[str]:
    pixels = cell["value"] if sweep == "pixels" else None
    return [
        AXES[sweep],
        f"{cell['value']:g}",
        solver,
        number(cell["seconds"]),
        "–" if cell["memory_mb"] is None else f"{cell['memory_mb']:.0f}",
        power(cell["gap"]),
        f"{100 * cell['density']:.2g} %",
        "" if pixels is None else number(1e9 * cell["seconds"] / pixels),
    ]


def _profile(profile: dict) -> list[str]:
    """Medians over the images, a column per number of threads, and the machine's limits."""
    by_threads: dict[int, list[dict]] = {}
    for row in profile["rows"]:
        by_threads.setdefault(row["threads"], []).append(row)
    stages = list(profile["rows"][0]["seconds"])
    middle = {
        n: {k: median(row["seconds"][k] for row in rows) for k in stages}
        for n, rows in by_threads.items()
    }
    lines = []
    for stage in stages:
        line = [f"**{stage}**" if stage == "total" else stage]
        for times in middle.values():
            share = 100 * times[stage] / times["total"]
            line += [f"{1e3 * times[stage]:.1f}", f"{share:.0f} %"]
        lines.append(line)
    head = ["ms"]
    for n in middle:
        head += [count(n, "thread"), "share"]
    limits = profile["machine_limits"]
    speeds = ", ".join(
        f"{median(r['scan_gfma_per_second'] for r in rows):.0f} G/s on {count(n, 'thread')}"
        for n, rows in by_threads.items()
    )
    caches = [(k.split("_")[1], v) for k, v in limits.items() if k.startswith("copy")]
    return [
        "## Where the time goes",
        f"`sparse_code` to a gap of {profile['settings']['certificate']:g}, medians over "
        f"{count(len(next(iter(by_threads.values()))), 'image')} and five runs each. Stages of "
        "different images have their medians apart, so they need not add up to the total.",
        table(head, lines),
        f"Scans multiply and add at {speeds}; one core can at most do "
        f"{limits['gfma_per_second']:.0f} G/s on float32 in registers. A visit that reads a 12×12 "
        f"kernel and its patch takes {limits['visit_ns']:g} ns, writing the patch back "
        f"{limits['update_ns']:g} ns (one thread, a tile in the first-level cache). Copies: "
        + ", ".join(f"{speed:.0f} GB/s from {name}" for name, speed in caches)
        + ".",
    ]
