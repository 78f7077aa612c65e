"""The experiment `paper`: every result of Liu, Garcia-Cardona, Wohlberg and Yin (2018)."""

from __future__ import annotations

from ..experiment import Experiment
from . import curves, large, memory, noisy, tables
from .report import render

FEW = 4  # looks where the end counts more than the way

STAGES = {
    "sgd-steps": curves.stage_of(curves.sgd_steps, FEW),
    "sgd-table": tables.sgd,
    "forgetting": curves.stage_of(curves.forgetting, FEW),
    "splitting": curves.stage_of(curves.splitting, FEW),
    "tolerance": curves.stage_of(curves.tolerance, FEW),
    "surrogate-table": tables.surrogate,
    "main": curves.stage_of(curves.main),
    "memory": memory.run,
    "noisy": noisy.run,
    "large": large.run,
}
PAPER = Experiment("paper", STAGES, render, goes_on=True)
