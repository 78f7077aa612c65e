"""The experiment `coding`: one image at a time, as fast as each rival can."""

from __future__ import annotations

from . import memory, profile, race, report, scaling, warm_start
from .experiment import Experiment

STAGES = {
    "main": race.run,
    "warm": warm_start.run,
    "memory": memory.run,
    "scaling": scaling.run,
    "profile": profile.run,
}
CODING = Experiment("coding", STAGES, report.render)
