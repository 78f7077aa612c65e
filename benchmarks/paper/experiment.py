"""The experiment `paper`: every result of Liu, Garcia-Cardona, Wohlberg and Yin (2018)."""

from __future__ import annotations

from ..experiment import Experiment
from . import curves, large, memory, noisy, tables
from .report import render

STAGES = {
    "sgd-steps": curves.stage_of(curves.sgd_steps),
    "sgd-table": tables.sgd,
    "forgetting": curves.stage_of(curves.forgetting),
    "splitting": curves.stage_of(curves.splitting),
    "tolerance": curves.stage_of(curves.tolerance),
    "surrogate-table": tables.surrogate,
    "main": curves.stage_of(curves.main),
    "memory": memory.run,
    "noisy": noisy.run,
    "large": large.run,
}
PAPER = Experiment("paper", STAGES, render, goes_on=True)
