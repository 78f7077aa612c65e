"""The result file: stages, each with where and how it was made; written as it grows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Results:
    """A JSON file that is always whole: every save writes beside it, then moves over it."""

    def __init__(self, file: Path, experiment: str, *, keep: bool):
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self.data: dict[str, Any] = {"experiment": experiment, "stages": {}}
        if keep and file.exists():  # a run of one stage leaves the others as they are
            self.data = read(file)
            if self.data["experiment"] != experiment:
                raise ValueError(f"{file} is a result of `{self.data['experiment']}`: move it away")

    def begin(
        self, stage: str, settings: dict, provenance: dict, *, go_on: bool = False
    ) -> dict[str, Any]:
        """An empty stage; fill the dictionary that comes back and save now and then.

        To `go_on` is to get what there is of a stage with these settings that was not finished.
        """
        begun = self.data["stages"].get(stage)
        if go_on and begun and not begun.get("complete") and begun["settings"] == _plain(settings):
            return begun
        content: dict[str, Any] = {"settings": settings, "provenance": provenance}
        self.data["stages"][stage] = content
        return content

    def save(self) -> None:
        beside = self.file.with_suffix(".part")
        beside.write_text(json.dumps(self.data, indent=1, default=str) + "\n", encoding="utf-8")
        os.replace(beside, self.file)


def _plain(settings: dict) -> dict:
    """As a file holds them."""
    return json.loads(json.dumps(settings, default=str))


def read(file: Path) -> dict[str, Any]:
    data = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or "experiment" not in data:
        raise ValueError(f"{file} is not a result of `python -m benchmarks`")
    return data
