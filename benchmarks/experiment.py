"""An experiment: stages that fill a result one after the other, and a page drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .environment import provenance, use_cores
from .results import Results
from .timing import say


class Told(Protocol):
    """Settings of an experiment."""

    @property
    def out(self) -> Path: ...

    @property
    def cores(self) -> int: ...

    def as_json(self) -> dict: ...


@dataclass(frozen=True)
class Experiment:
    name: str
    stages: dict[str, Callable[[Any, dict, Results], None]]
    render: Callable[[dict, Path], Path]
    goes_on: bool = False  # with what an interrupted run left of a stage

    def run(self, settings: Told, only: str | None = None) -> Path:
        """Run the stages, save after every step, and draw what there is at the end."""
        n_cores = use_cores(settings.cores)
        results = Results(
            settings.out / f"{self.name}.json", self.name, keep=only is not None or self.goes_on
        )
        for name in [only] if only else self.stages:
            say(f"stage {name}, on {n_cores} cores")
            about = settings.as_json(), provenance(n_cores)
            stage = results.begin(name, *about, go_on=self.goes_on)
            self.stages[name](settings, stage, results)
            stage["complete"] = True
            results.save()
        self.render(results.data, settings.out)
        say(f"written: {results.file} and the page beside it")
        return results.file
