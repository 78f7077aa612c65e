"""Compiled kernels against slow, obvious twins."""

from __future__ import annotations

import numpy as np
import pytest

from convdict.kernels.active import Active, admit, measure, nonzeros, settle
from convdict.kernels.closer import columns, drift, glance, look
from convdict.kernels.compile import kernel
from convdict.kernels.correlate import packed, scan
from convdict.kernels.descent import descend, inner, subtract, subtract_weighted
from convdict.kernels.geometry import cut, padded_rows
from convdict.kernels.lanes import (
    add,
    fused,
    highest,
    lane_count,
    load,
    magnitude,
    multiply,
    root,
    splat,
    store,
    total,
    where_larger,
)
from convdict.kernels.regions import gather, scatter
from convdict.kernels.sums import products
from convdict.kernels.synthesis import synthesize

DTYPES = [np.float32, np.float64]
CASES = [  # grid and kernel of three axes, channels, number of kernels
    ((1, 1, 50), (1, 1, 7), 1, 3),
    ((1, 40, 37), (1, 5, 4), 1, 9),
    ((1, 20, 21), (1, 20, 3), 2, 8),
    ((9, 10, 35), (3, 2, 20), 2, 5),
]


@kernel
def every_operation(a, b, out, lanes):
    x, y = load(a, 1), load(b, 2)
    store(out, 0, add(x, y))
    store(out, lanes, multiply(x, y))
    store(out, 2 * lanes, fused(x, y, splat(a[0])))
    store(out, 3 * lanes, magnitude(x))
    store(out, 4 * lanes, where_larger(x, y, x, splat(b[0])))
    store(out, 5 * lanes, root(magnitude(x)))
    out[6 * lanes] = total(x)
    out[6 * lanes + 1] = highest(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lanes_do_what_numpy_does(dtype, rng):
    n = lane_count(np.dtype(dtype))
    a, b = rng.standard_normal((2, n + 2)).astype(dtype)
    out = np.zeros(6 * n + 2, dtype)
    every_operation(a, b, out, n)
    x, y = a[1 : n + 1], b[2 : n + 2]
    expected = [x + y, x * y, x * y + a[0], abs(x), np.where(x > y, x, b[0])]
    expected += [np.sqrt(abs(x)), [x.sum(), x.max()]]
    np.testing.assert_allclose(out, np.concatenate(expected), rtol=20 * np.finfo(dtype).eps)


def correlation(d, g, m, p):
    """⟨d_m at p, g⟩ on a circular grid, from the definition"""
    axes = [
        (start + np.arange(k)) % n for start, k, n in zip(p, d.shape[2:], g.shape[1:], strict=True)
    ]
    return np.sum(d[m] * g[np.ix_(range(g.shape[0]), *axes)], dtype=float)


def problem(case, dtype, rng):
    grid, k, channels, n_kernels = case
    d = rng.standard_normal((n_kernels, channels, *k)).astype(dtype)
    g = rng.standard_normal((channels, *grid)).astype(dtype)
    return d, g, cut(grid, k, channels, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_scan_finds_the_strongest_ratio_everywhere(case, signed, dtype, rng):
    d, g, made = problem(case, dtype, rng)
    lmbda = rng.uniform(0.5, 2, len(d)).astype(dtype)
    ratio, rest = np.zeros((2, g[0].size), dtype)
    best, lanes = np.zeros(g[0].size, np.int32), lane_count(np.dtype(dtype))
    data = made.geometry, g.ravel(), packed(d, lmbda), len(d), lanes, signed
    for strip in made.strips:
        scan(*strip, *data, ratio, best, rest)
    for i, p in enumerate(np.ndindex(g.shape[1:])):
        c = np.array([correlation(d, g, m, p) for m in range(len(d))]) / lmbda
        c = abs(c) if signed else np.maximum(c, 0)
        assert ratio[i] == pytest.approx(c.max(), abs=1e-4 if dtype == np.float32 else 1e-12)
        assert c[best[i]] == pytest.approx(c.max(), abs=1e-4)
        c[best[i]] = 0
        assert rest[i] == pytest.approx(c.max(), abs=1e-4)


@pytest.mark.parametrize("by", [look, glance])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_look_is_scan_where_bounds_leave_doubt(case, signed, dtype, by, rng):
    d, g, made = problem(case, dtype, rng)
    d = np.concatenate([d] * 6)  # of equal kernels the first is the best, as in `scan`
    lmbda = np.tile(rng.uniform(0.5, 2, len(d) // 6), 6).astype(dtype)
    settings = len(d), lane_count(np.dtype(dtype)), signed
    size = g[0].size
    known, others = np.zeros((2, size), dtype)
    names = np.zeros(size, np.int32)
    ratio, rest = rng.uniform(0, 2, (2, size)).astype(dtype)
    for bound in (ratio, rest):
        bound[rng.random(size) < 0.1] = np.inf
        bound[rng.random(size) < 0.1] = np.nan
    rest = np.fmin(rest, ratio)
    before, bound, best = ratio.copy(), rest.copy(), rng.integers(0, len(d), size).astype(np.int32)
    guess = best.copy()
    flat = g.ravel()
    rows = padded_rows(d / lmbda.reshape(-1, 1, 1, 1, 1)).ravel()
    for strip in made.strips:
        scan(*strip, made.geometry, flat, packed(d, lmbda), *settings, known, names, others)
        data = flat, rows, *((columns(d, lmbda),) if by is look else ()), *settings, dtype(1)
        by(*strip, made.geometry, *data, ratio, best, rest)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11}
    sure, full = before <= 1, ~(before <= 1) & ~(bound <= 1)
    np.testing.assert_array_equal(ratio[sure], before[sure])
    np.testing.assert_allclose(ratio[full], known[full], **close)
    np.testing.assert_allclose(rest[full], others[full], **close)
    np.testing.assert_array_equal(best[full], names[full])
    np.testing.assert_array_equal(best[~full], guess[~full])
    np.testing.assert_array_equal(rest[~full], bound[~full])
    for i in np.flatnonzero(~sure & ~full):
        c = correlation(d, g, best[i], np.unravel_index(i, g.shape[1:])) / lmbda[best[i]]
        expected = max(abs(c) if signed else c, rest[i])
        assert ratio[i] == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_drift_is_the_norm_of_the_change_under_the_kernel_and_never_less(case, dtype, rng):
    d, g, made = problem(case, dtype, rng)
    before = g + rng.standard_normal(g.shape).astype(dtype) * (rng.random(g.shape) < 0.05)
    lanes = lane_count(np.dtype(dtype))
    old = rng.uniform(0, 1, g[0].size).astype(dtype)
    bound, rest, ones = old.copy(), old / 2, np.ones((1, *d.shape[1:]))
    square = (g.astype(float) - before.astype(float)) ** 2
    expected = [np.sqrt(correlation(ones, square, 0, p)) for p in np.ndindex(g.shape[1:])]
    expected = old + 0.7 * np.array(expected)
    up = dtype(0.7 * (1 + 50 * np.finfo(dtype).eps))
    data = g.ravel(), before.ravel(), up, lanes, dtype(1), bound, rest
    for first, last in made.strips:
        tiles = made.geometry.tiles[first:last]
        share = drift(first, last, made.geometry, *data)
        inside = np.zeros(g.shape[1:], bool)
        for a0, a1, a2, t0, t1, t2 in tiles:
            inside[a0 : a0 + t0, a1 : a1 + t1, a2 : a2 + t2] = True
        assert share == pytest.approx(np.mean(rest[inside.ravel()] > 1))
    np.testing.assert_allclose(bound, expected, rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert (bound.astype(float) >= expected * (1 - 1e-15)).all()
    np.testing.assert_allclose(rest, bound - old / 2, rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_gather_copies_a_region_and_scatter_puts_it_back(case, rng):
    _, g, made = problem(case, np.float32, rng)
    geometry = made.geometry
    back = np.full(g.size, np.nan, np.float32)
    for t, (a0, a1, a2, *_) in enumerate(geometry.tiles):
        buffer = np.zeros(geometry.buffer_size, np.float32)
        gather(g.ravel(), geometry, t, buffer)
        extent = geometry.halo + geometry.tiles[t, 3:]
        for c, i, j, k in np.ndindex(g.shape[0], *extent):
            at = c * geometry.strides[0] + i * geometry.strides[1] + j * geometry.strides[2] + k
            wrapped = [
                (a + b) % n for a, b, n in zip((a0, a1, a2), (i, j, k), g.shape[1:], strict=True)
            ]
            assert buffer[at] == g[(c, *wrapped)]
        scatter(back, geometry, t, buffer)
    np.testing.assert_array_equal(back, g.ravel())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_inner_and_subtract_are_one_kernel_at_one_place(case, dtype, rng):
    d, g, made = problem(case, dtype, rng)
    geometry, lanes = made.geometry, lane_count(np.dtype(dtype))
    rows = padded_rows(d).ravel()
    buffer, weights = np.zeros((2, geometry.buffer_size), dtype)
    t = len(geometry.tiles) - 1
    start, extent = geometry.tiles[t, :3], geometry.tiles[t, 3:]
    local = extent - 1
    place = int(local @ np.append(geometry.strides[1:], 1))
    p = tuple(start + local)
    m = len(d) - 1
    gather(g.ravel(), geometry, t, buffer)
    c = correlation(d, g, m, p)
    close = {"rel": 1e-4, "abs": 1e-4} if dtype == np.float32 else {"rel": 1e-12, "abs": 1e-12}
    assert inner(buffer, geometry.chunks, rows, lanes, m, place) == pytest.approx(c, **close)
    subtract(buffer, geometry.chunks, rows, lanes, m, place, dtype(0.5))
    expected = c - 0.5 * np.sum(d[m].astype(float) ** 2)
    assert inner(buffer, geometry.chunks, rows, lanes, m, place) == pytest.approx(expected, **close)
    w2 = rng.uniform(0, 1, g.shape).astype(dtype)
    gather(w2.ravel(), geometry, t, weights)
    subtract_weighted(buffer, weights, geometry.chunks, rows, lanes, m, place, dtype(2))
    h = correlation(d * d, w2, m, p)
    now = inner(buffer, geometry.chunks, rows, lanes, m, place)
    assert now == pytest.approx(expected - 2 * h, **close)


@pytest.mark.parametrize("case", CASES)
def test_coordinates_enter_their_tiles_and_come_back(case, rng):
    d, g, made = problem(case, np.float32, rng)
    geometry, n = made.geometry, 30
    positions, kernels = rng.integers(0, g[0].size, n), rng.integers(0, len(d), n).astype(np.int32)
    values = rng.standard_normal(n).astype(np.float32)
    values[3] = 0
    tile, place = np.empty((2, n), np.int64)
    sizes = np.zeros(len(geometry.tiles), np.int64)
    settle(geometry, made.steps, positions, tile, place, sizes)
    np.testing.assert_array_equal(sizes, np.bincount(tile, minlength=len(sizes)))
    strides = np.append(geometry.strides[1:], 1)
    for p, t, at in zip(positions, tile, place, strict=True):
        inside = np.array(np.unravel_index(p, g.shape[1:])) - geometry.tiles[t, :3]
        assert (inside >= 0).all()
        assert (inside < geometry.tiles[t, 3:]).all()
        assert at == inside @ strides
    active = Active.room(sizes, np.float32)
    admit(tile, place, kernels, values, active)
    np.testing.assert_array_equal(active.length, sizes)
    back = np.empty(n - 1, np.int32), np.empty(n - 1, np.int64), np.empty(n - 1, np.float32)
    nonzeros(geometry, active, *back)
    given = zip(kernels, positions, values, strict=True)
    assert sorted(zip(*back, strict=True)) == sorted(t for t in given if t[2] != 0)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("nonnegative", [True, False])
def test_descend_is_one_sweep_of_coordinate_descent(nonnegative, weighted, rng):
    dtype = np.float64
    d, s, made = problem(((1, 1, 30), (1, 1, 4), 1, 2), dtype, rng)
    geometry, lanes = made.geometry, lane_count(np.dtype(dtype))
    rows = padded_rows(d).ravel()
    w2 = rng.uniform(0, 2, s.size) if weighted else np.empty(0)
    n = 12
    active = Active.room(np.array([n] + [0] * (len(geometry.tiles) - 1)), dtype)
    active.kernel[:] = rng.integers(0, 2, n)
    active.place[:] = rng.permutation(int(geometry.tiles[0, 5]))[:n]
    active.length[0] = n
    squares = rows * rows
    norms = squares.reshape(2, -1).sum(1)
    measure(0, 1, geometry, w2, squares, norms, np.full(2, 0.3), lanes, active)
    g = s.ravel() * (w2 if weighted else 1)
    x, r, w = np.zeros(n), s.ravel().copy(), w2 if weighted else np.ones(s.size)
    for a in range(n):  # the twin: exact minimisation over one coordinate after another
        at = (active.place[a] + np.arange(4)) % s.size
        atom = d[active.kernel[a]].ravel()
        h = np.sum(w[at] * atom**2)
        assert active.step[a] == pytest.approx(1 / h)
        aim = np.sum(w[at] * atom * r[at]) + h * x[a]
        new = max(aim - 0.3, 0) + (0 if nonnegative else min(aim + 0.3, 0))
        r[at] -= (new / h - x[a]) * atom
        x[a] = new / h
    descend(0, 1, geometry, g, w2, rows, lanes, active, nonnegative, 0, 0.0, 0.1)
    np.testing.assert_allclose(active.value, x, atol=1e-12)
    np.testing.assert_allclose(g, w * r, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_synthesize_adds_shifted_kernels(case, rng):
    d, g, _ = problem(case, np.float64, rng)
    kernels = np.array([0, 1, 0], np.int32)
    positions = np.array([0, g[0].size // 2, g[0].size - 1])
    values = np.array([1.0, -2.0, 0.5])
    signal = np.zeros_like(g)
    rows, lanes = padded_rows(d).ravel(), lane_count(d.dtype)
    synthesize(rows, d.shape[1:], lanes, kernels, positions, values, signal)
    for _ in range(3):  # adjoint: ⟨Dx, g⟩ = ⟨x, Dᵀg⟩
        probe = rng.standard_normal(g.shape)
        points = [np.unravel_index(p, g.shape[1:]) for p in positions]
        expected = sum(
            x * correlation(d, probe, k, p) for x, k, p in zip(values, kernels, points, strict=True)
        )
        assert np.sum(signal * probe) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 31, 32, 100])
def test_products_are_summed_in_float64(size, dtype, rng):
    g, s, v = rng.uniform(0, 1e5, (3, size)).astype(dtype)
    gg, sg = products(g, s, v)
    g, s, v = (a.astype(np.float64) for a in (g, s, v))
    assert (gg, sg) == pytest.approx((v @ g**2, s @ g), rel=1e-14)
    assert products(g, s, np.empty(0))[0] == pytest.approx(g @ g, rel=1e-14)
