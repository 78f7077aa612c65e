"""Lags of codes, and products with Hermitian matrices, against slow twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from convdict.kernels.hermitian import add_outer, apply_hermitian, from_blocks, to_blocks
from convdict.kernels.lags import half_lags, half_shape, merge_lags
from convdict.kernels.lanes import lane_count
from convdict.model.order import ByPosition, starts
from tests.oracles import design

CASES = [  # grid, kernel
    ((1, 1, 30), (1, 1, 5)),
    ((1, 9, 11), (1, 3, 4)),
    ((4, 5, 6), (2, 3, 2)),
    ((1, 5, 4), (1, 4, 4)),  # lags reach around the grid
]


def lag(x, y, delta):
    """Σ_p x[p] y[p + δ]"""
    return float(np.sum(x * np.roll(y, [-a for a in delta], range(x.ndim))))


@pytest.mark.parametrize(("grid", "kernel"), CASES)
def test_lags(grid, kernel, rng):
    n = 3
    codes, x = design.sparse_maps(rng, n, grid)
    halo = tuple(k - 1 for k in kernel)
    half = np.zeros((n, n, *half_shape(halo)))
    near = ByPosition.of(codes, grid)
    half_lags(0, n, starts(codes, n), *near, grid, halo, 0.5, half)
    box = tuple(2 * k for k in kernel)
    lags = np.zeros((n * (n + 1) // 2, np.prod(box)))
    merge_lags(0, n, halo, half, box, lags)
    wanted = np.zeros((len(lags), *box))
    for q, (a, b) in enumerate(itertools.combinations_with_replacement(range(n), 2)):
        for delta in itertools.product(*(range(-h, h + 1) for h in halo)):
            wanted[(q, *delta)] = 0.5 * lag(x[a], x[b], delta)
    np.testing.assert_allclose(lags.reshape(wanted.shape), wanted, atol=1e-12)


def test_orders_of_codes(rng):
    codes, _ = design.sparse_maps(rng, 4, (6, 7))
    near = ByPosition.of(codes, (6, 7))
    pairs = sorted(zip(codes.position, codes.kernel, codes.value, strict=True))
    assert [tuple(p) for p in pairs] == [
        tuple(p) for p in zip(near.position, near.kernel, near.value, strict=True)
    ]
    np.testing.assert_array_equal(near.position[near.rank], codes.position)
    assert near.before.tolist() == [int(np.sum(codes.position < p)) for p in range(43)]
    assert starts(codes, 5).tolist() == [int(np.sum(codes.kernel < m)) for m in range(6)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hermitian_products(dtype, rng):
    n, channels, frequencies = 4, 2, 37
    lanes = lane_count(np.dtype(dtype))
    blocks = -(-frequencies // lanes)

    def blocked(rows):
        out = np.zeros((blocks, len(rows), 2, lanes), dtype)
        to_blocks(0, len(rows), rows, lanes, out)
        return out

    kind = np.result_type(dtype, np.complex64)
    x = (rng.standard_normal((n, frequencies, 2)) @ [1, 1j]).astype(kind)
    d = (rng.standard_normal((channels, n, frequencies, 2)) @ [1, 1j]).astype(kind)
    a = np.zeros((blocks, n * (n + 1) // 2, 2, lanes), dtype)
    add_outer(0, blocks, blocked(x).reshape(-1), dtype(0.5), n, lanes, a.reshape(-1))
    wanted = 0.5 * np.einsum("mf,nf->fmn", np.conj(x), x)
    found = np.zeros((len(a[0]), frequencies), kind)
    from_blocks(a, lanes, found)
    eps = 50 * np.finfo(dtype).eps
    np.testing.assert_allclose(found.T, wanted[:, *np.triu_indices(n)], atol=eps)

    flat = blocked(d.reshape(-1, frequencies))
    y = np.empty_like(flat)
    apply_hermitian(0, blocks, a.reshape(-1), n, channels, lanes, flat.reshape(-1), y.reshape(-1))
    out = np.zeros((channels * n, frequencies), kind)
    from_blocks(y, lanes, out)
    product = np.einsum("fmn,cnf->cmf", wanted, d).reshape(out.shape)
    np.testing.assert_allclose(out, product, atol=20 * eps)
