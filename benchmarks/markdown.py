"""Words and tables of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def quick(stages: dict) -> str:
    """What the opening must add where sizes and times mean nothing."""
    if not any(stage["settings"].get("quick") for stage in stages.values()):
        return ""
    return "\n\n**A `--quick` run: small images and few settings, to see that all works.**"


def noise(busy: Sequence[float | None]) -> list[str]:
    """Rivals that wait for each other's threads suffer most from a busy machine: say so."""
    known = [cores for cores in busy if cores is not None]
    if not known:
        return []
    text = f"Other processes kept {median(known):.2f} cores busy meanwhile"
    text += f" (at most {max(known):.2f})" if len(known) > 1 else ""
    return [text + ("." if max(known) <= 0.1 else ": **measure again on a quiet machine.**")]


def made_with(stages: dict) -> list[str]:
    rows = []
    for name, stage in stages.items():
        made = stage["provenance"]
        machine, versions = made["machine"], made["versions"]
        rows.append(
            [
                name,
                made["date"],
                str(made["commit"] or "–"),
                f"{machine['processor']}, {machine['cores_used']} of {machine['cores']} cores, "
                f"{machine['memory_gib']} GiB, {machine['system']}",
                ", ".join(f"{k} {v}" for k, v in versions.items() if v),
            ]
        )
    return ["## Made with", table(["stage", "date", "commit", "machine", "versions"], rows)]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def yes(met: bool) -> str:
    return "yes" if met else "no"


def pictures(drawn: list[str]) -> list[str]:
    return [f"![{name}]({name})" for name in drawn]


def count(n: int, thing: str) -> str:
    return f"{n} {thing}" + ("" if n == 1 else "s")


def number(value: float | None) -> str:
    """Three digits, without an exponent where one is not needed."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def spread(values: list[float]) -> str:
    return f"{number(min(values))} – {number(max(values))}" if values else "–"


def power(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")


def signed(value: float) -> str:
    return ("−" if value < 0 else "+") + power(abs(value))
