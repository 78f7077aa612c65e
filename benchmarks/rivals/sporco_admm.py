"""SPORCO's ADMM for convolutional basis pursuit denoising, in float32.

`paper` is the solver as the paper's authors run it: relative residual 1e-3, automatic ρ,
over-relaxation 1.8, everything else at SPORCO's defaults. `Tuned` is a faster way to run the
same code: no statistics, a cached factor, and exactly as many iterations as asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..environment import cores_at_hand
from ..judge import Problem

Watch = Callable[[int, np.ndarray], bool]
PAPER_OPTIONS = {"MaxMainIter": 500, "RelStopTol": 1e-3}


@dataclass(frozen=True)
class Tuned:
    """One setting to try: a penalty ρ that stays, or one adapted every `period` iterations."""

    rho: float | None = None  # None: SPORCO's own start, 50λ + 1
    period: int | None = None  # None: ρ stays
    threads: int | None = None  # of FFTW; None: one per core
    gentle: bool = False  # adapt ρ by factors of 2, as SPORCO's online learner does

    def __str__(self) -> str:
        words = ["ρ = 50λ + 1" if self.rho is None else f"ρ = {self.rho:g}"]
        words.append("fixed" if self.period is None else f"adapted every {self.period}")
        words += ["by factors of 2"] if self.gentle else []
        words += [f"FFTs on {self.threads} thread"] if self.threads else []
        return ", ".join(words)

    def options(self, n_iter: int) -> dict:
        auto = {"Enabled": self.period is not None, "Period": self.period or 1}
        if self.gentle:
            auto |= {"AutoScaling": False, "Scaling": 2.0, "RsdlRatio": 10.0, "RsdlTarget": 1.0}
        options = {"MaxMainIter": n_iter, "RelStopTol": 0.0, "AutoRho": auto}
        options |= {"FastSolve": True, "HighMemSolve": True}
        return options if self.rho is None else options | {"rho": self.rho}


def paper(problem: Problem, watch: Watch | None = None) -> np.ndarray:
    return _solve(problem, PAPER_OPTIONS, watch)


def tuned(problem: Problem, how: Tuned, n_iter: int, watch: Watch | None = None) -> np.ndarray:
    return _solve(problem, how.options(n_iter), watch, how.threads)


def _solve(
    problem: Problem, options: dict, watch: Watch | None, threads: int | None = None
) -> np.ndarray:
    """The sparse maps (M, rows, columns), a view into SPORCO's own array."""
    import sporco.fft
    from sporco.admm import cbpdn

    sporco.fft.pyfftw_threads = threads or cores_at_hand()  # its own count: the whole machine's
    common = {"Verbose": False, "DataType": np.float32, "AuxVarObj": False}
    if watch is not None:
        common["Callback"] = lambda solver: watch(solver.k + 1, _maps(solver.Y))
    chosen = cbpdn.ConvBPDN.Options(common | options)
    d = np.ascontiguousarray(np.moveaxis(problem.d, 0, -1))
    return _maps(cbpdn.ConvBPDN(d, problem.s, problem.lmbda, chosen, dimK=0).solve())


def _maps(y: np.ndarray) -> np.ndarray:
    return np.moveaxis(y[:, :, 0, 0, :], -1, 0)
