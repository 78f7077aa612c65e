"""The distance of dictionaries knows nothing of shifts, signs, order and norms."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convdict as cd
from convdict.errors import InputError
from convdict.learning.distance import aligned_correlations

SHAPES = [((4, 6), None), ((3, 3, 4), None), ((3, 2, 3, 2), None), ((3, 2, 3, 3), 1)]


def correlation(a, b):
    """The largest |⟨a, b shifted⟩| of two kernels (C, *kernel), shift by shift."""
    best = 0.0
    for shift in product(*(range(1 - n, k) for n, k in zip(a.shape[1:], b.shape[1:], strict=True))):
        total = 0.0
        for at in np.ndindex(*a.shape[1:]):
            to = tuple(i + s for i, s in zip(at, shift, strict=True))
            if all(0 <= i < k for i, k in zip(to, b.shape[1:], strict=True)):
                total += np.dot(a[(slice(None), *at)], b[(slice(None), *to)])
        best = max(best, abs(total))
    return best / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize(("shape", "channel_axis"), SHAPES)
def test_it_is_what_brute_force_finds(shape, channel_axis, rng):
    a, b = rng.standard_normal((2, *shape))
    b = b[..., :-1]  # kernels may differ in size
    first, second = (d if channel_axis else d[:, None] for d in (a, b))
    table = np.array([[correlation(p, q) for q in second] for p in first])
    np.testing.assert_allclose(aligned_correlations(first, second), table, atol=1e-12)
    best = max(permutations(range(len(a))), key=lambda p: sum(table[m, n] for m, n in enumerate(p)))
    found = cd.dictionary_distance(a, b, channel_axis=channel_axis)
    assert tuple(found.partners) == best
    np.testing.assert_allclose(found.correlations, table[range(len(a)), list(best)])
    assert found.value == pytest.approx(1 - np.mean(found.correlations))


@given(seed=st.integers(0, 1000), case=st.sampled_from(SHAPES))
@settings(max_examples=25, deadline=None)
def test_shifted_negated_scaled_and_in_another_order_it_is_the_same(seed, case):
    rng = np.random.default_rng(seed)
    shape, channel_axis = case
    d = rng.standard_normal(shape)
    axes = range(1 if channel_axis is None else 2, d.ndim)
    room = np.pad(d, [(0, 0) if axis not in axes else (0, 3) for axis in range(d.ndim)])
    other = np.empty_like(room)
    for kernel, moved in zip(room, other, strict=True):
        shift = rng.integers(0, 4, len(axes))
        moved[:] = np.roll(kernel, shift, [axis - 1 for axis in axes])
        moved *= rng.choice([-1, 1]) * rng.uniform(0.1, 10)
    order = rng.permutation(len(d))
    found = cd.dictionary_distance(d, other[order], channel_axis=channel_axis)
    assert found.value == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(order[found.partners], np.arange(len(d)))


@given(seed=st.integers(0, 1000), case=st.sampled_from(SHAPES))
@settings(max_examples=25, deadline=None)
def test_it_is_symmetric_and_between_zero_and_one(seed, case):
    shape, channel_axis = case
    a, b = np.random.default_rng(seed).standard_normal((2, *shape))
    found = cd.dictionary_distance(a, b, channel_axis=channel_axis)
    back = cd.dictionary_distance(b, a, channel_axis=channel_axis)
    assert found.value == pytest.approx(back.value)
    assert 0 < found.value < 1
    np.testing.assert_array_equal(back.partners[found.partners], np.arange(len(a)))


def test_a_larger_dictionary_may_hold_a_smaller_one(rng):
    d = rng.standard_normal((7, 4, 4))
    found = cd.dictionary_distance(d[[5, 2]], d)
    assert found.value == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(found.partners, [5, 2])
    with pytest.raises(InputError, match="exchange them"):
        cd.dictionary_distance(d, d[:2])


def test_a_kernel_of_zeros_is_like_no_other(rng):
    d = rng.standard_normal((2, 4, 4))
    d[1] = 0
    assert cd.dictionary_distance(d, d).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("a", "b", "options", "complaint"),
    [
        (np.ones((2, 3, 3)), np.ones((2, 3)), {}, "as many axes and channels"),
        (np.ones((2, 1, 3)), np.ones((2, 2, 3)), {"channel_axis": 1}, "as many axes and channels"),
        (np.ones(3), np.ones(3), {}, "as many axes"),
        (np.ones((2, 3, 3)), np.ones((2, 3, 3)), {"channel_axis": -1}, "channels on axis 1"),
        (np.full((2, 3), np.nan), np.ones((2, 3)), {}, "finite"),
        (np.ones((0, 3)), np.ones((2, 3)), {}, "empty"),
    ],
)
def test_what_cannot_be_compared_is_refused(a, b, options, complaint):
    with pytest.raises(InputError, match=complaint):
        cd.dictionary_distance(a, b, **options)
