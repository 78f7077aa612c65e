"""The cut covers the grid once, and strips of one colour never touch."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from convdict.kernels.geometry import cut, padded_rows, three


@st.composite
def grids(draw):
    n_axes = draw(st.integers(1, 3))
    grid = tuple(draw(st.integers(1, 70 if n_axes < 3 else 30)) for _ in range(n_axes))
    kernel = tuple(draw(st.integers(1, n)) for n in grid)
    return grid, kernel


def region(geometry, t):
    """The samples that coefficients of tile t touch, as a boolean array."""
    touched = np.zeros(geometry.grid[1:], bool)
    tile, halo = geometry.tiles[t], geometry.halo
    axes = [(tile[a] + np.arange(tile[3 + a] + halo[a])) % geometry.grid[1 + a] for a in range(3)]
    touched[np.ix_(*axes)] = True
    assert touched.sum() == np.prod(tile[3:] + halo), "a region wraps onto itself"
    return touched


@settings(max_examples=60, deadline=None)
@given(grids(), st.sampled_from([np.float32, np.float64]))
def test_tiles_cover_every_position_once_and_colours_are_apart(case, dtype):
    grid, kernel = case
    made = cut(grid, kernel, 1, dtype)
    geometry = made.geometry
    seen = np.zeros(three(grid), int)
    for a0, a1, a2, t0, t1, t2 in geometry.tiles:
        seen[a0 : a0 + t0, a1 : a1 + t1, a2 : a2 + t2] += 1
    assert (seen == 1).all()
    assert sorted(i for colour in made.colours for i in colour) == list(range(len(made.strips)))
    assert [t for a, b in made.strips for t in range(a, b)] == list(range(len(geometry.tiles)))
    for pieces in (made.spans, made.coarse):
        assert [t for a, b in pieces for t in range(a, b)] == list(range(len(geometry.tiles)))
    for colour in made.colours:
        touched = np.zeros(three(grid), int)
        for strip in colour:
            mine = np.zeros(three(grid), bool)
            for t in range(*made.strips[strip]):
                mine |= region(geometry, t)
            touched += mine
        assert touched.max() <= 1


@settings(max_examples=40, deadline=None)
@given(grids(), st.randoms(use_true_random=False))
def test_steps_lead_to_the_tile_that_holds_a_position(case, random):
    grid, kernel = case
    made = cut(grid, kernel, 2, np.float32)
    at = [random.randrange(n) for n in three(grid)]
    tile = made.geometry.tiles[sum(steps[p] for steps, p in zip(made.steps, at, strict=True))]
    for axis in range(3):
        assert tile[axis] <= at[axis] < tile[axis] + tile[3 + axis]


def test_padded_rows_keep_rows_and_fill_with_zeros(rng):
    d = rng.standard_normal((3, 2, 1, 4, 5)).astype(np.float32)
    rows = padded_rows(d).reshape(3, 2, 1, 4, -1)
    assert rows.shape[-1] == 16
    np.testing.assert_array_equal(rows[..., :5], d)
    assert not rows[..., 5:].any()
