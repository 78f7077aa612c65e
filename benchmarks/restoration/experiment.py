"""The experiment `restoration`: noise out, holes filled, and how well against the truth."""

from __future__ import annotations

from ..experiment import Experiment
from . import denoise, inpaint, report

STAGES = {"denoise": denoise.run, "inpaint": inpaint.run}
RESTORATION = Experiment("restoration", STAGES, report.render)
