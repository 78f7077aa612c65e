"""The duality gap: a proof of accuracy for any code, whoever made it."""

from __future__ import annotations


def relative_gap(*, rr: float, sr: float, l1: float, ratio: float) -> tuple[float, float]:
    """P = ½‖ρ‖² + λ‖x‖₁, D = a⟨Ws, ρ⟩ − ½a²‖ρ‖², and the gap (P − D) / P.

    ρ = W(s − Dx) is the residual, `rr` = ‖ρ‖², `sr` = ⟨Ws, ρ⟩, `l1` = Σ λ_m‖x_m‖₁ and
    `ratio` = max |d_mᵀWρ| / λ_m (without the modulus for non-negative codes). The dual point
    is aρ with the best a that keeps it feasible, |a|·ratio ≤ 1. The value D is a lower bound
    of the optimum, so P exceeds the optimum by at most gap · P.
    """
    primal = 0.5 * rr + l1
    if primal <= 0.0:
        return 0.0, 0.0
    a = max(sr / rr, 0.0) if rr > 0.0 else 0.0
    if ratio > 0.0:
        a = min(a, 1.0 / ratio)
    dual = a * sr - 0.5 * a * a * rr
    return primal, (primal - dual) / primal
