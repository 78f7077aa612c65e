"""What one coded signal says about the dictionary: ½dᵀAd − bᵀd + e, apart from A."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.gradient import adjoint
from ..model.problem import Array, Problem, Triplets
from ..model.residual import synthesis


class Terms(NamedTuple):
    """Of ½ω²‖Xd‖² − bᵀd + e, or, where weights are kept exactly, ½‖WXd‖² − bᵀd + e."""

    codes: Triplets
    linear: Array  # b, of the dictionary's shape
    constant: float  # e, so that the value at the d of the codes is the signal's objective
    curvature: float  # ω²; 1 where weights are kept exactly

    def energy(self, n_kernels: int) -> Array:
        """ω²‖x_m‖² for every kernel"""
        squares = np.square(self.codes.value, dtype=np.float64)
        return self.curvature * np.bincount(self.codes.kernel, squares, n_kernels)


def terms(problem: Problem, codes: Triplets, *, exact_weights: bool) -> Terms:
    """b and e of a signal that was coded with the dictionary in `problem`.

    Without weights b = Xᵀs. With weights W the Hessian XᵀW²X is not Toeplitz. With ω = max W,

        ½‖W(Xd′ − s)‖² ≤ ½ω²‖Xd′ − s̃‖² + const,  ω²s̃ = W²s + (ω² − W²)Xd = ω²Xd + g,

    with equality of values and gradients at d′ = d. So hidden samples are filled in with what
    the dictionary makes of them, and the Hessian is ω²XᵀX.
    """
    d, s, w2 = problem.d, problem.s, problem.w2
    l1 = float(np.sum(problem.lmbda[codes.kernel] * np.abs(codes.value), dtype=np.float64))
    shape = problem.n_kernels, problem.kernel
    if w2 is None or exact_weights:
        aim = s if w2 is None else w2 * s
        return Terms(codes, adjoint(codes, aim, *shape), 0.5 * _inner(aim, s) + l1, 1.0)
    fit = synthesis(d, codes, problem.grid)
    g = w2 * (s - fit)
    curvature = float(w2.max())
    linear = adjoint(codes, curvature * fit + g, *shape)
    constant = 0.5 * _inner(s - fit, g) + l1 + 0.5 * curvature * _inner(fit, fit) + _inner(g, fit)
    return Terms(codes, linear, constant, curvature)


def _inner(a: Array, b: Array) -> float:
    return float(np.sum(a * b, dtype=np.float64))
