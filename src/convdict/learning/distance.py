"""Comparing dictionaries: kernels come in any order, shifted, and with either sign."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.fft
from scipy.optimize import linear_sum_assignment

from ..errors import InputError
from ..model.arrays import real_array
from ..model.problem import Array


def aligned_correlations(a: Array, b: Array) -> Array:
    """max over shifts δ of |⟨a_m, b_n shifted by δ⟩| / (‖a_m‖ ‖b_n‖), for (M, C, *kernel)."""
    axes = tuple(range(2, a.ndim))
    box = [
        scipy.fft.next_fast_len(n + k - 1, real=True)
        for n, k in zip(a.shape[2:], b.shape[2:], strict=True)
    ]
    a_hat = scipy.fft.rfftn(_normalised(a), s=box, axes=axes)
    b_hat = scipy.fft.rfftn(_normalised(b), s=box, axes=axes)
    found = np.empty((len(a), len(b)))
    for m, kernel in enumerate(a_hat):
        products = np.sum(np.conj(kernel) * b_hat, axis=1)
        shifted = scipy.fft.irfftn(products, s=box, axes=range(1, products.ndim))
        found[m] = np.abs(shifted.reshape(len(b), -1)).max(axis=1)
    return found


class Distance(NamedTuple):
    """How far two dictionaries are apart, kernel by kernel."""

    value: float  # 1 − mean correlation of matched kernels: 0 for the same, 1 for unrelated
    correlations: Array  # of every kernel of the first with its partner
    partners: Array  # which kernel of the second that is


def dictionary_distance(a: Any, b: Any, *, channel_axis: int | None = None) -> Distance:
    """Match the kernels of two dictionaries one to one, each shifted and signed as suits best.

    With channels give `channel_axis=1`, as in a learner's `dictionary_`.
    """
    if channel_axis not in (None, 1):
        raise InputError(f"channel_axis is {channel_axis!r}: dictionaries have channels on axis 1")
    first, second = (real_array(d, "dictionary").astype(np.float64) for d in (a, b))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("a dictionary holds NaN or infinite values: all must be finite")
    if channel_axis is None:
        first, second = first[:, np.newaxis], second[:, np.newaxis]
    if first.ndim != second.ndim or first.ndim < 3 or first.shape[1] != second.shape[1]:
        raise InputError(
            f"dictionaries have shapes {np.shape(a)} and {np.shape(b)}: both must have kernels of "
            "as many axes and channels"
        )
    if len(first) > len(second):
        raise InputError(
            f"the first dictionary has {len(first)} kernels and the second {len(second)}: every "
            "kernel of the first needs a partner, so exchange them"
        )
    correlations = aligned_correlations(first, second)
    mine, partners = linear_sum_assignment(-correlations)
    matched = correlations[mine, partners]
    return Distance(float(1 - matched.mean()), matched, partners)


def _normalised(d: Array) -> Array:
    d = d.astype(np.float64)
    norms = np.sqrt(np.sum(d * d, axis=tuple(range(1, d.ndim)), keepdims=True))
    result: Array = d / np.maximum(norms, np.finfo(np.float64).tiny)
    return result
