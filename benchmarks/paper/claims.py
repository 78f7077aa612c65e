"""What the paper says, what was found here, and whether the one bears the other out.

Every verdict follows from the numbers of a stage; nothing is judged by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from ..learning.summary import time_to
from ..markdown import number

SAME = 0.01  # functional values that differ by less are held to be alike
HOLDS, FAILS, BETTER, OPEN = "holds", "**does not hold**", "better", "not run"


@dataclass(frozen=True)
class Claim:
    words: str  # the paper's claim, in short
    paper: str  # its figure
    ours: str
    verdict: str


def last(stage: dict, key: str) -> float | None:
    """The value a run ended with."""
    points = stage["curves"].get(key, {}).get("points")
    return points[-1]["value"] if points else None


def verdict(holds: bool | None) -> str:
    return OPEN if holds is None else HOLDS if holds else FAILS


def above(a: float, b: float) -> str:
    return f"{100 * (a / b - 1):+.2g} %"


def sgd_steps(stage: dict) -> Iterator[Claim]:
    ends = {key: last(stage, key) for key in stage["curves"]}
    falling = {k: v for k, v in ends.items() if v and k.startswith("diminishing")}
    fixed = {k: v for k, v in ends.items() if v and k.startswith("fixed")}
    if not falling or not fixed:
        return
    best = min(falling, key=falling.__getitem__)
    best_fixed = min(fixed, key=fixed.__getitem__)
    yield Claim(
        "a diminishing step is better in the end than any fixed one",
        "η = 10 / (5 + t) the best of a, b ∈ {5, 10, 20}",
        f"{stage['curves'][best]['label']}: {falling[best]:.2f}, "
        f"{stage['curves'][best_fixed]['label']}: {fixed[best_fixed]:.2f}",
        verdict(falling[best] < fixed[best_fixed]),
    )
    chosen = falling.get("diminishing-10-5")
    if chosen:
        yield Claim(
            "a = 10, b = 5 is the best choice",
            "the best of nine",
            f"{chosen:.2f}, {above(chosen, falling[best])} above the best of "
            f"{len(falling)}, {stage['curves'][best]['label']}",
            verdict(chosen <= (1 + SAME / 2) * falling[best]),
        )
    large, small = (f(fixed, key=lambda k: float(k.split("-")[1])) for f in (max, min))
    first_large = stage["curves"][large]["points"][0]["value"]
    first_small = stage["curves"][small]["points"][0]["value"]
    yield Claim(
        "a large fixed step falls fast at first, a small one slowly",
        "by figure",
        f"after the first look {first_large:.1f} against {first_small:.1f}",
        verdict(first_large < first_small),
    )


def forgetting(stage: dict) -> Iterator[Claim]:
    ends = {float(k.split("-")[1]): last(stage, k) for k in stage["curves"]}
    ends = {p: v for p, v in ends.items() if v}
    if 0.0 in ends and len(ends) > 2:
        best = min(ends, key=ends.__getitem__)
        yield Claim(
            "without forgetting (p = 0) the value stays higher",
            "by figure",
            f"p = 0: {ends[0.0]:.2f}; best, p = {best:g}: {ends[best]:.2f}",
            verdict(ends[0.0] > ends[best] and best > 0),
        )
        if 10.0 in ends:
            yield Claim(
                "p = 10 is a good choice",
                "by figure",
                f"{ends[10.0]:.2f}, {above(ends[10.0], ends[best])} above the best",
                verdict(ends[10.0] <= (1 + SAME) * ends[best]),
            )
        most = max(ends)
        moves = {
            p: stage["curves"][f"p-{p:g}"]["facts"]["moves_at_the_end"] for p in (min(ends), most)
        }
        yield Claim(
            "a large p oscillates: its steps have a large variance",
            "p ∈ {40, 80}, by figure",
            f"‖Δd‖ at the end {moves[most]:.3g} for p = {most:g}, {moves[min(ends)]:.3g} for p = 0",
            verdict(moves[most] > 2 * moves[min(ends)]),
        )


def splitting(stage: dict) -> Iterator[Claim]:
    kernel, size = stage["settings"]["kernel"], stage["settings"]["size"]
    ends = {(k.split("-")[0], int(k.split("-")[1])): last(stage, k) for k in stage["curves"]}
    ends = {k: v for k, v in ends.items() if v}
    whole = ends.get(("circular", size))
    if not whole:
        return
    for boundary in ("circular", "free"):
        sides = sorted(n for b, n in ends if b == boundary)
        enough = [n for n in sides if 2 * kernel <= n < size]
        few = [n for n in sides if n < 2 * kernel]
        if enough:
            worst = max(ends[boundary, n] for n in enough)
            yield Claim(
                f"tiles of twice the kernel or more are as good as whole images ({boundary})",
                "by figure",
                f"worst of {', '.join(map(str, enough))}: {worst:.2f}; whole {whole:.2f} "
                f"({above(worst, whole)})",
                BETTER if worst < whole else verdict(worst <= (1 + SAME) * whole),
            )
        if few:
            least = min(ends[boundary, n] for n in few)
            words = "smaller tiles are worse: artefacts of the boundary"
            if boundary == "free":
                words = "(not in the paper) free boundaries: smaller tiles are no worse"
            found = least > (1 + SAME) * whole
            yield Claim(
                words,
                "by figure" if boundary == "circular" else "–",
                f"best of {', '.join(map(str, few))}: {least:.2f} ({above(least, whole)})",
                verdict(found if boundary == "circular" else not found),
            )


def tolerance(stage: dict) -> Iterator[Claim]:
    names = {"1e-4": "101.1", "1e-2": "104.4", "0.01 / t": "101.3"}
    ends = {name: last(stage, f"tau-{name}") for name in names}
    if not all(ends.values()):
        return
    loops = {n: stage["curves"][f"tau-{n}"]["facts"]["fista_per_step"] for n in names}
    yield Claim(
        "τ = 0.01 / t loses little against 1e-4",
        "101.3 against 101.1 (+0.2 %)",
        f"{ends['0.01 / t']:.2f} against {ends['1e-4']:.2f} "
        f"({above(ends['0.01 / t'], ends['1e-4'])})",
        verdict(ends["0.01 / t"] <= (1 + SAME) * ends["1e-4"]),
    )
    yield Claim(
        "τ = 1e-2 loses more",
        "104.4 against 101.1 (+3.3 %)",
        f"{ends['1e-2']:.2f} against {ends['1e-4']:.2f} ({above(ends['1e-2'], ends['1e-4'])})",
        verdict(ends["1e-2"] > max(ends["0.01 / t"], (1 + SAME) * ends["1e-4"])),
    )
    yield Claim(
        "a falling τ saves FISTA iterations",
        "by figure",
        f"{loops['0.01 / t']:.1f} a step against {loops['1e-4']:.1f}",
        verdict(loops["0.01 / t"] < 0.8 * loops["1e-4"]),
    )


def sgd_table(stage: dict) -> Iterator[Claim]:
    rows = {row["domain"]: row for row in stage["rows"] if "update" in row}
    if len(rows) < 3:
        return
    share = rows["sparse"]["coding_paper"] / sum(
        rows["sparse"][part] for part in ("coding_paper", "update")
    )
    yield Claim(
        "coding is nearly all of a step",
        "14.8 of 15.1 s (98 %)",
        f"{number(rows['sparse']['coding_paper'])} s of ADMM, {100 * share:.1f} %",
        verdict(share > 0.9),
    )
    for better, words in (("sparse", "1.978 → 0.241 s"), ("frequency", "1.978 → 0.025 s")):
        times = rows["dense"]["update"] / rows[better]["update"]
        yield Claim(
            f"the {rows[better]['label']} update is faster than the dense one",
            words,
            f"{number(1e3 * rows['dense']['update'])} → {number(1e3 * rows[better]['update'])} ms",
            verdict(times > 2),
        )
    yield Claim(
        "the frequency domain is faster than sparse matrices",
        "0.241 → 0.025 s",
        f"{number(1e3 * rows['sparse']['update'])} → "
        f"{number(1e3 * rows['frequency']['update'])} ms",
        verdict(rows["frequency"]["update"] < rows["sparse"]["update"]),
    )


def surrogate_table(stage: dict) -> Iterator[Claim]:
    rows = {(row["domain"], row["size"]): row for row in stage["rows"] if "update" in row}
    sizes = sorted({size for _, size in rows})
    large, small = sizes[-1], sizes[0]
    if ("frequency", large) not in rows or ("frequency", small) not in rows:
        return

    def step(domain: str, size: int) -> float:
        return rows[domain, size]["fista_step"]

    yield Claim(
        "splitting makes a FISTA step in the frequency domain cheaper",
        "1.068 s at 256² → 0.072 s at 64²",
        f"{number(1e3 * step('frequency', large))} → {number(1e3 * step('frequency', small))} ms",
        verdict(step("frequency", small) < 0.5 * step("frequency", large)),
    )
    if ("sparse", large) in rows and ("sparse", small) in rows:
        yield Claim(
            "but not in the spatial domain",
            "0.017 s at all sizes",
            f"{number(1e3 * step('sparse', large))} → {number(1e3 * step('sparse', small))} ms",
            verdict(0.5 < step("sparse", small) / step("sparse", large) < 2),
        )
        least = min(rows[domain, small]["memory_mb"] or 0 for domain in ("sparse", "frequency"))
        yield Claim(
            "at small tiles the frequency domain needs less memory",
            "158 against 343 MB at 64²",
            f"{rows['frequency', small]['memory_mb']:.0f} against "
            f"{rows['sparse', small]['memory_mb']:.0f} MB",
            verdict(least == rows["frequency", small]["memory_mb"]),
        )
    if ("lag", large) in rows:
        lag = rows["lag", large]
        others = [rows[d, large] for d in ("sparse", "frequency") if (d, large) in rows]
        least = min(row["update"] for row in others)
        yield Claim(
            "(not in the paper) lags need less time and memory than either",
            "–",
            f"update {number(1e3 * lag['update'])} against {number(1e3 * least)} ms, "
            f"FISTA step {number(1e3 * lag['fista_step'])} ms, {lag['memory_mb']:.0f} MB",
            verdict(
                lag["update"] < least
                and all(lag["memory_mb"] < (row["memory_mb"] or 0) for row in others)
            ),
        )


def main(stage: dict) -> Iterator[Claim]:
    curves, start = stage["curves"], stage["start"]
    batches = stage["settings"]["batches"]
    batch = curves.get(f"consensus-{max(batches)}", {}).get("points")
    ours = curves.get("default", {}).get("points")
    if not batch or not ours:
        return
    target = batch[-1]["value"]
    arrivals = {k: time_to(c.get("points", []), target, start) for k, c in curves.items()}
    slow, fast = batch[-1]["seconds"], arrivals["default"]
    yield Claim(
        f"online methods reach the value of the batch method (K = {max(batches)}) much sooner",
        "15 h against 1 h and less",
        f"value {target:.2f}: batch {number(slow)} s, "
        + ", ".join(
            f"{curves[k]['label']} {number(arrivals[k])} s"
            for k in ("sgd-sparse-admm", "surrogate-sparse-admm")
            if k in curves
        ),
        verdict(
            all(
                (arrivals.get(k) or 1e99) < slow
                for k in ("sgd-sparse-admm", "surrogate-sparse-admm")
                if k in curves
            )
        ),
    )
    yield Claim(
        "(goal) our default reaches it at least 100 times sooner than the batch method",
        "–",
        f"{number(fast)} s, {number(slow / fast)} times" if fast else "not reached",
        verdict(bool(fast) and slow / fast >= 100),
    )
    admm = [arrivals[k] for k in curves if k.endswith("-admm") and k != "regions-admm"]
    reached = [seconds for seconds in admm if seconds]
    if fast and admm:
        sooner = min(reached) / fast if reached else float("inf")
        yield Claim(
            "(goal) and at least 10 times sooner than Algorithms 1 and 2 with ADMM coding",
            "–",
            f"{number(sooner)} times than the fastest of {len(admm)}" if reached else "not reached",
            verdict(sooner >= 10),
        )
    values = {k: last(stage, f"consensus-{k}") for k in batches}
    if all(values.values()):
        ordered = [values[k] for k in sorted(values)]
        yield Claim(
            "a batch of more images gives a better dictionary",
            "K = 10, 20, 40, by figure",
            ", ".join(f"K = {k}: {v:.2f}" for k, v in sorted(values.items())),
            verdict(ordered == sorted(ordered, reverse=True)),
        )


def memory(stage: dict) -> Iterator[Claim]:
    rows = {row["key"]: row.get("memory_mb") for row in stage["rows"]}
    batches = sorted(stage["settings"]["batches"])
    some = [rows.get(f"consensus-{k}") for k in batches]
    if all(some):
        yield Claim(
            "memory of batch methods grows with the number of images",
            "1960, 3887, 7742 MB for K = 10, 20, 40",
            ", ".join(f"{mb:.0f}" for mb in some) + f" MB for K = {', '.join(map(str, batches))}",
            verdict(some == sorted(some) and some[-1] > 1.5 * some[0]),
        )
    online = {k: mb for k, mb in rows.items() if mb and k.endswith("-admm")}
    if online and some[-1]:
        yield Claim(
            "online methods need a small part of it",
            "111 to 343 MB",
            f"{min(online.values()):.0f} to {max(online.values()):.0f} MB with ADMM coding; "
            f"convdict's default {rows.get('default') or 0:.0f} MB",
            verdict(max(online.values()) < some[-1] / 2),
        )


def noisy(stage: dict) -> Iterator[Claim]:
    for share in stage["settings"]["shares"]:
        plain, masked = last(stage, f"plain-{share:g}"), last(stage, f"sgd-{share:g}")
        if plain and masked:
            yield Claim(
                f"{100 * share:g} % of impulses: masks learn what else is lost",
                "by pictures",
                f"{masked:.2f} with masks, {plain:.2f} without",
                verdict(masked < plain),
            )
    share = max(stage["settings"]["shares"])
    batch = stage["curves"].get(f"batch-{share:g}", {}).get("points")
    if not batch:
        return
    target = batch[-1]["value"]
    times = {
        k: time_to(stage["curves"].get(f"{k}-{share:g}", {}).get("points", []), target)
        for k in ("sgd", "surrogate", "default")
    }
    yield Claim(
        "masked online methods converge much faster than masked batch learning",
        "about 1 h against more than 10 h",
        f"value {target:.2f}, {100 * share:g} %: batch {number(batch[-1]['seconds'])} s; "
        + ", ".join(f"{k} {number(t)} s" for k, t in times.items()),
        verdict(all(t and t < batch[-1]["seconds"] for t in (times["sgd"], times["surrogate"]))),
    )


def large(stage: dict) -> Iterator[Claim]:
    first, second = (stage["curves"].get(k, {}).get("points") for k in ("sgd", "surrogate"))
    if not first or not second:
        return
    pairs = [(a["value"], b["value"]) for a, b in zip(first, second, strict=False)]
    yield Claim(
        "the second order has a slightly lower value after as many images",
        "by figure",
        f"{second[-1]['value']:.2f} against {first[-1]['value']:.2f} after "
        f"{first[-1]['images']:.0f} images (median of looks {median(b / a for a, b in pairs):.3f})",
        verdict(second[-1]["value"] < first[-1]["value"]),
    )
    yield Claim(
        "the first order takes less time a step",
        "by figure",
        f"{number(first[-1]['seconds'])} against {number(second[-1]['seconds'])} s in all",
        verdict(first[-1]["seconds"] < second[-1]["seconds"]),
    )


CLAIMS: dict[str, Callable[[dict], Iterator[Claim]]] = {
    "sgd-steps": sgd_steps,
    "sgd-table": sgd_table,
    "forgetting": forgetting,
    "splitting": splitting,
    "tolerance": tolerance,
    "surrogate-table": surrogate_table,
    "main": main,
    "memory": memory,
    "noisy": noisy,
    "large": large,
}
