"""SPORCO's online learner (first order, frequency domain), in float32, one image a step.

`PAPER` is how the paper's authors run it: coding to a relative residual of 1e-3, at most 500
iterations, automatic ρ every iteration, step 10 / (5 + t). `Hurried` does exactly as many
iterations of coding as it is told, in the cheapest way that the same code offers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..environment import cores_at_hand
from .sporco_admm import PAPER_OPTIONS, Tuned

Watch = Callable[[np.ndarray], bool]


@dataclass(frozen=True)
class Hurried:
    """A way to run the coding, and how long."""

    how: Tuned
    n_iter: int

    def __str__(self) -> str:
        return f"{self.n_iter} iterations, {self.how}"


def learn(
    images: Sequence[np.ndarray],
    d: np.ndarray,
    *,
    penalty: float,
    setting: Hurried | None = None,
    passes: int = 1,
    watch: Watch | None = None,
) -> np.ndarray:
    """With the paper's settings if `setting` is None; `watch(dictionary)` after every image."""
    learner = _learner(d, penalty, setting)
    for s in [*images] * passes:
        learner.solve(s)
        if watch is not None and watch(_kernels(learner)):
            break
    return _kernels(learner).copy()


def _learner(d: np.ndarray, penalty: float, setting: Hurried | None) -> Any:
    import sporco.fft
    from sporco.admm import cbpdn
    from sporco.dictlrn import onlinecdl

    threads = setting.how.threads if setting else None
    sporco.fft.pyfftw_threads = threads or cores_at_hand()
    chosen = PAPER_OPTIONS if setting is None else setting.how.options(setting.n_iter)
    coding = cbpdn.ConvBPDN.Options({"Verbose": False, "DataType": np.float32} | chosen)
    options = {"Verbose": False, "DataType": np.float32, "eta_a": 10.0, "eta_b": 5.0}
    kind = onlinecdl.OnlineConvBPDNDictLearn
    start = np.ascontiguousarray(np.moveaxis(d, 0, -1))
    return kind(start, penalty, kind.Options(options | {"CBPDN": coding}), dimK=0)


def _kernels(learner: Any) -> np.ndarray:
    """(M, rows, columns), a view into the live array."""
    found = learner.getdict()
    return np.moveaxis(found.reshape(*found.shape[:2], -1), -1, 0)
