"""Noise out: penalties that suit every place and every kernel, and a mean of several estimates.

The classical λ = c·σ takes as much from a wall as from what hangs on it. Where details of strength
τ are hidden by noise of σ less should be taken the larger τ: S. G. Chang, B. Yu and M. Vetterli
(IEEE Transactions on Image Processing 9(9), 2000) set thresholds of wavelets to σ²/τ. Here the
root of that, λ ∝ σ·√(σ/τ), is best. A penalty that changes slowly from place to place is the same
as weights that do, W² = c·σ/λ, so any solver can do it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coding.sparse_code import reconstruct, sparse_code
from ..model.codes import Codes
from ..signals.steps import local_strength
from .work import Work

Array = NDArray[Any]

PER_SIGMA = 2.7  # λ / σ of a coder that knows no places: the best for photographs
ROOT = 1.9  # λ = ROOT · σ · √(σ / τ) …
LEAST, MOST = 0.8, 3.3  # … within these, in units of σ
FAINT = 0.005  # least λ of all, as a share of the signal's range: below it codes are dense
WINDOW = 0.25  # size of the Gaussian that averages strength, in kernels
FAIR = 0.4  # power of the mean coefficient by which penalties of kernels differ …
FAIREST = 1.6  # … within this factor


def without_noise(
    s: Array,
    w: Array | None,
    kernels: Array,
    sigma: float,
    *,
    channel_axis: int | None,
    nonnegative: bool,
    tol: float,
    thorough: bool,
    work: Work,
) -> Array:
    """What codes explain of a high-passed signal in white noise, coded once or several times."""

    def code(d: Array, lmbda: Any, init: Codes | None = None) -> Codes:
        codes = sparse_code(s, d, lmbda, weights, init=init, callback=work.inside, **told)
        work.done()
        return codes

    n_axes = s.ndim - (channel_axis is not None)
    told: dict[str, Any] = {"boundary": "free", "channel_axis": channel_axis}
    told |= {"nonnegative": nonnegative, "tol": tol}
    size = [WINDOW * extent for extent in kernels.shape[-n_axes:]]
    visible = s if w is None else s[np.broadcast_to(w, s.shape) > 0]
    least = max(LEAST, min(FAINT * float(np.ptp(visible)) / sigma, MOST))
    weights = local_weights(s, w, sigma, size, channel_axis, least)
    first = code(kernels, PER_SIGMA * sigma)
    if not thorough:
        return reconstruct(first, kernels)
    lmbda = PER_SIGMA * sigma * fair_shares(first)
    found = reconstruct(code(kernels, lmbda, first), kernels)
    turned = turns(kernels, n_axes)
    for d in turned:
        found = found + reconstruct(code(d, lmbda), d)
    mean: Array = found / found.dtype.type(1 + len(turned))
    return mean


def n_codings(n_axes: int, thorough: bool) -> int:
    """How often `without_noise` codes a signal."""
    return (5 if n_axes > 1 else 2) if thorough else 1


def local_weights(
    s: Array,
    w: Array | None,
    sigma: float,
    size: list[float],
    channel_axis: int | None,
    least: float = LEAST,
) -> Array:
    """W = w √(c·σ/λ), λ = ROOT·σ·√(σ/τ) within limits, τ² = G ∗ s² − σ² over what is seen."""
    relative = local_strength(s, w, size, channel_axis) / sigma
    tau = np.sqrt(np.maximum(relative * relative - 1, 1e-6))  # in units of σ
    lmbda = np.clip(ROOT / np.sqrt(tau), least, MOST)
    local = np.sqrt(PER_SIGMA / lmbda).astype(s.dtype)
    return local if w is None else local * w


def fair_shares(codes: Codes) -> Array:
    """(mean |x| / mean |x_m|)^FAIR: kernels with large coefficients are penalised less."""
    n_kernels = codes.shape[0]
    used = np.bincount(codes.kernel, minlength=n_kernels)
    total = np.bincount(codes.kernel, np.abs(codes.value), minlength=n_kernels)
    if not used.any():
        return np.ones(n_kernels)
    usual = (total * used).sum() / (used * used).sum()
    shares: Array = (usual * used / np.maximum(total, np.finfo(float).tiny)) ** FAIR
    return np.where(used > 0, np.clip(shares, 1 / FAIREST, FAIREST), FAIREST)


def turns(kernels: Array, n_axes: int) -> list[Array]:
    """The kernels of pictures mirrored, upside down, and both.

    Each explains a picture as well as they do and errs in its own way, so that a mean errs less.
    Of more than two axes these are the last two; a signal in time has a direction, and has none.
    """
    if n_axes < 2:
        return []
    return [np.ascontiguousarray(np.flip(kernels, axes)) for axes in (-1, -2, (-1, -2))]
