"""The Hessian of a dictionary's fit entry by entry, with weights: the paper's Option I."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel


@kernel
def sparse_gram(
    first: int,
    last: int,
    before: Any,
    near_kernel: Any,
    near_value: Any,
    grid: Any,
    size: Any,
    w2: Any,
    weight: Any,
    gram: Any,
) -> None:
    """A_c += weight · XᵀW_c²X, the rows of kernels first … last − 1.

    Row i of X holds x_m[i − δ] at column (m, δ): few of its entries are not zero. `gram` has
    shape (C, M·L, M·L); `w2` is of shape (C, n), or empty where all weights are one.
    """
    n0, n1, n2 = grid
    k0, k1, k2 = size
    length = k0 * k1 * k2
    column = np.empty(length * (gram.shape[1] // length), np.int64)
    value = np.empty(column.size, gram.dtype)
    for i in range(n0 * n1 * n2):
        i0, i1, i2 = i // (n1 * n2), i // n2 % n1, i % n2
        n = 0
        for a in range(k0):
            for b in range(k1):
                line = ((i0 - a) % n0 * n1 + (i1 - b) % n1) * n2
                for c in range(k2):
                    p = line + (i2 - c) % n2
                    for e in range(before[p], before[p + 1]):
                        column[n] = near_kernel[e] * length + (a * k1 + b) * k2 + c
                        value[n] = near_value[e]
                        n += 1
        for z in range(gram.shape[0]):
            factor = weight * (w2[z, i] if w2.size > 0 else 1)
            if factor == 0:
                continue
            for u in range(n):
                if first * length <= column[u] < last * length:
                    row, x = gram[z, column[u]], factor * value[u]
                    for v in range(n):
                        row[column[v]] += x * value[v]
