"""The experiment `coding`: one image at a time, as fast as each rival can."""

from __future__ import annotations

from pathlib import Path

from . import memory, profile, race, report, scaling
from .environment import provenance, use_cores
from .results import Results
from .settings import Settings
from .timing import say

STAGES = {"main": race.run, "memory": memory.run, "scaling": scaling.run, "profile": profile.run}


def run(settings: Settings, only: str | None = None) -> Path:
    """Run the stages, save after every step, and draw what there is at the end."""
    n_cores = use_cores(settings.cores)
    results = Results(settings.out / "coding.json", keep=only is not None)
    for name in [only] if only else STAGES:
        say(f"stage {name}, on {n_cores} cores")
        stage = results.begin(name, settings.as_json(), provenance(n_cores))
        STAGES[name](settings, stage, results)
        results.save()
    report.render(results.data, settings.out)
    say(f"written: {results.file} and the page beside it")
    return results.file
