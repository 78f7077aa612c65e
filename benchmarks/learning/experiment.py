"""The experiment `learning`: a dictionary from photographs, as good and as soon as possible."""

from __future__ import annotations

from ..experiment import Experiment
from . import (
    batch,
    domains,
    masked,
    memory,
    race,
    reading,
    report,
    sharpness,
    sizes,
    steps,
    updates,
)

STAGES = {
    "race": race.run,
    "batch": batch.run,
    "memory": memory.run,
    "update": updates.run,
    "masked": masked.run,
    "steps": steps.run,
    "sizes": sizes.run,
    "reading": reading.run,
    "sharpness": sharpness.run,
    "domains": domains.run,
}
LEARNING = Experiment("learning", STAGES, report.render)
