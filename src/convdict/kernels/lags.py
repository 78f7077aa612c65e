"""Lags of sparse codes: all that the second order of a dictionary's fit depends on.

XᵀX has the entry R_mn[i − j] at ((m, i), (n, j)), with R_mn[δ] = Σ_p x_m[p] x_n[p + δ]. Only
|δ| < kernel is ever asked for, and R_nm[δ] = R_mn[−δ]: lags in one half of the plane for all
ordered pairs (m, n) hold everything, and so do all lags of the pairs m ≤ n.
"""

from __future__ import annotations

from typing import Any

from .compile import kernel


def half_shape(halo: tuple[int, int, int]) -> tuple[int, int, int]:
    """Room for the lags ahead: along the first axis with any, and both ways along the rest."""
    h0, h1, h2 = halo
    return h0 + 1, (2 if h0 else 1) * h1 + 1, (2 if h0 or h1 else 1) * h2 + 1


@kernel
def half_lags(
    first: int,
    last: int,
    starts: Any,
    rank: Any,
    before: Any,
    near_kernel: Any,
    near_position: Any,
    near_value: Any,
    grid: Any,
    halo: Any,
    weight: Any,
    half: Any,
) -> None:
    """H_mn[δ] += weight · Σ_p x_m[p] x_n[p + δ], first ≤ m < last, for δ ahead in raster order.

    The codes come sorted by position, then kernel. Those of kernel m are number rank[a] in
    that order, starts[m] ≤ a < starts[m + 1], and before[p] of all lie before position p. At
    δ = 0 each pair counts once, in that order, and a coefficient meets itself at half its
    weight, so that R_mn[δ] = H_mn[δ] + H_nm[−δ]. `half` is (M, M, …) by `half_shape`;
    positions wrap around the grid.
    """
    n0, n1, n2 = grid
    h0, h1, h2 = halo
    c1, c2 = half.shape[3] - 1 - h1, half.shape[4] - 1 - h2  # where lag zero is
    for m in range(first, last):
        mine = half[m]
        for a in range(starts[m], starts[m + 1]):
            r = rank[a]
            p, x = near_position[r], weight * near_value[r]
            p0, p1, p2 = p // (n1 * n2), p // n2 % n1, p % n2
            mine[m, 0, c1, c2] += x * near_value[r] / 2
            for i in range(h0 + 1):
                plane = (p0 + i) % n0 * n1
                for j in range(-h1 if i > 0 else 0, h1 + 1):
                    line = (plane + (p1 + j) % n1) * n2
                    ahead = i > 0 or j > 0
                    least = -h2 if ahead else 0
                    turn = (p2 + least) // n2 * n2 - p2  # copies of the line, a grid apart
                    while turn <= h2:
                        begin = before[line + max(least - turn, 0)]
                        if not ahead and turn <= 0 < turn + n2:
                            begin = r + 1  # on its own line, at or after its own place
                        end = before[line + min(h2 - turn + 1, n2)]
                        shift = turn - line
                        for e in range(begin, end):
                            k = near_position[e] + shift
                            mine[near_kernel[e], i, c1 + j, c2 + k] += x * near_value[e]
                        turn += n2


@kernel
def merge_lags(first: int, last: int, halo: Any, half: Any, wrap: Any, lags: Any) -> None:
    """R_mn[δ] += H_mn[δ] + H_nm[−δ], m ≤ n, first ≤ m < last, with δ wrapped around a box.

    The row of `lags` for (m, n) is the one that follows (m, n − 1); `wrap` is the shape of a
    row, at least two kernels less one sample along every axis.
    """
    n_kernels = half.shape[0]
    w0, w1, w2 = wrap
    h0, h1, h2 = halo
    c1, c2 = half.shape[3] - 1 - h1, half.shape[4] - 1 - h2
    for m in range(first, last):
        q = m * n_kernels - m * (m - 1) // 2
        for n in range(m, n_kernels):
            row = lags[q]
            for i in range(h0 + 1):
                for j in range(-h1 if i > 0 else 0, h1 + 1):
                    there, back = half[m, n, i, c1 + j], half[n, m, i, c1 + j]
                    forth = (i % w0 * w1 + j % w1) * w2
                    home = (-i % w0 * w1 + -j % w1) * w2
                    row[forth] += there[c2]
                    row[home] += back[c2]
                    for k in range(1, h2 + 1):
                        row[forth + k] += there[c2 + k]
                        row[home + w2 - k] += back[c2 + k]
                    if i > 0 or j > 0:
                        for k in range(1, h2 + 1):
                            row[forth + w2 - k] += there[c2 - k]
                            row[home + k] += back[c2 - k]
            q += 1
