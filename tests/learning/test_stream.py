"""From whatever can be iterated over to signals: everything once, in a reproducible order."""

from __future__ import annotations

from collections import Counter, deque
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convdict as cd
import convdict.learning.stream
from convdict.errors import InputError
from convdict.learning.settings import settings as checked
from convdict.learning.signals import pieces, regions, tiles
from convdict.learning.source import Source
from convdict.learning.stream import stream
from convdict.model.pose import observe
from tests.oracles import runs

shapes = st.lists(st.integers(1, 40), min_size=1, max_size=3)


@given(shape=shapes, data=st.data())
@settings(max_examples=60, deadline=None)
def test_tiles_hold_every_sample_once_and_are_about_as_large(shape, data):
    split = tuple(data.draw(st.integers(1, 45)) for _ in shape)
    count = np.zeros(shape, int)
    boxes = tiles(tuple(shape), split)
    sizes = []
    for box in boxes:
        count[box] += 1
        sizes.append(count[box].shape)
    assert (count == 1).all()
    for axis, most in enumerate(split):
        along = [size[axis] for size in sizes]
        assert 1 <= min(along) <= max(along) <= min(min(along) + 1, most)
        assert len({box[axis].start for box in boxes}) == -(-shape[axis] // most)


@given(shape=shapes, data=st.data(), seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_regions_lie_within_the_image(shape, data, seed):
    size = tuple(data.draw(st.integers(1, 45)) for _ in shape)
    boxes = regions(tuple(shape), size, 5, np.random.default_rng(seed))
    assert len(boxes) == 5
    for box in boxes:
        for at, n, most in zip(box, shape, size, strict=True):
            assert 0 <= at.start < at.stop <= n
            assert at.stop - at.start == min(n, most)


def test_regions_may_lie_anywhere():
    boxes = regions((9,), (6,), 200, np.random.default_rng(0))
    assert Counter(box[0].start for box in boxes).keys() == {0, 1, 2, 3}


def cut(image, mask=None, split=None, rng=None):
    seen = observe(image, mask, boundary="circular", channel_axis=None)
    return pieces(seen, 3, split=split, rng=rng, dtype=np.dtype(np.float64))


def test_pieces_hold_the_image_and_its_weights(rng):
    image, mask = rng.standard_normal((11, 7)), rng.uniform(0, 1, (11, 7))
    mask[:6] = 1
    found = cut(image, mask, split=(6, 7))
    assert [piece.key for piece in found] == [(3, 0), (3, 1)]
    assert [piece.w is None for piece in found] == [True, False]
    np.testing.assert_array_equal(np.concatenate([p.s[0] for p in found]), image)
    np.testing.assert_array_equal(found[1].w[0], mask[len(found[0].s[0]) :])
    assert sum(piece.share for piece in found) == 1


def test_pieces_that_are_hidden_are_left_out(rng):
    image = rng.standard_normal((12, 8))
    image[:6] = np.nan
    found = cut(image, split=(6, 8))
    assert [piece.key for piece in found] == [(3, 1)]
    assert found[0].share == 1
    with pytest.raises(InputError, match="hides every pixel"):
        cut(image[:6], split=(6, 8))


def test_fingerprints_tell_signals_apart(rng):
    image, mask = rng.standard_normal((8, 6)), rng.uniform(0.1, 1, (8, 6))
    prints = [
        cut(s, w)[0].fingerprint
        for s in (image, image + 1e-12, image.reshape(6, 8), image[:7])
        for w in (None, mask.reshape(s.shape) if s.size == 48 else None)
    ]
    assert len(set(prints)) == 7  # the last has no mask to differ by
    assert prints[0] == cut(image.copy())[0].fingerprint


def order(n_images, *, seed=0, epoch=0, first=0, permute=True, **changes):
    """The keys of a pass over images of two tiles each."""
    learner = cd.ConvDictLearner(**{"kernel_size": 2, "split": 5, "window": 3, **changes})
    s = checked(learner.get_params())
    source = Source(np.ones((n_images, 10)), None, 1, None)
    given = stream(source, s, seed=seed, epoch=epoch, first=first, permute=permute)
    return [piece.key for piece in given]


def test_every_piece_comes_once_and_only_windows_are_mixed():
    keys = order(8, permute=False, first=4)
    for start in (0, 6, 12):
        images = {4 + i for i in range(start // 2, min(start // 2 + 3, 8))}
        window = keys[start : start + 6]
        assert sorted(window) == sorted((i, tile) for i in images for tile in (0, 1))
        assert window != sorted(window)
    assert order(8, permute=False, shuffle=False) == [(i, t) for i in range(8) for t in (0, 1)]


def test_windows_are_as_large_as_memory_is_no_concern(monkeypatch):
    monkeypatch.setattr(convdict.learning.stream, "AUTO_WINDOW", 4)
    assert order(9, window="auto") == order(9, window=4)
    monkeypatch.setattr(convdict.learning.stream, "AUTO_WINDOW_BYTES", 2 * 10 * 4)  # two images
    assert order(9, window="auto") == order(9, window=2)
    monkeypatch.setattr(convdict.learning.stream, "AUTO_WINDOW_BYTES", 1)
    assert order(9, window="auto") == order(9, window=1)


def test_nothing_but_seed_and_epoch_decides_on_the_order():
    assert order(8, seed=1, epoch=2) == order(8, seed=1, epoch=2)
    orders = [order(8, seed=seed, epoch=epoch) for seed in (1, 2**40) for epoch in (0, 1)]
    assert len({tuple(keys) for keys in orders}) == 4
    assert all(sorted(keys) == sorted(orders[0]) for keys in orders)


class Reread:
    """A data set that is read anew every time."""

    def __init__(self, images):
        self._images = images

    def __iter__(self):
        yield from self._images


class Indexed:
    """A data set that only knows its items by number."""

    def __init__(self, images):
        self._images = images

    def __len__(self):
        return len(self._images)

    def __getitem__(self, index):
        return self._images[index]


@pytest.mark.parametrize("n_epochs", [1, 2])
def test_every_kind_of_iterable_says_the_same(n_epochs):
    settings = {"shuffle": False, "n_epochs": n_epochs}
    whole, images, _ = runs.make("tiles", **settings)
    whole.fit(images)
    ragged = np.empty(len(images), object)
    ragged[:] = list(images)
    kinds = [list(images), tuple(images), deque(images), Reread(images), Indexed(images), ragged]
    kinds += [images.tolist(), np.ma.masked_array(images)]
    if n_epochs == 1:
        kinds += [iter(images), (image for image in images)]
    for kind in kinds:
        runs.check_same(runs.make("tiles", **settings)[0].fit(kind), whole)


def test_what_can_be_gone_through_once_is_no_stuff_for_two_epochs():
    for once in (iter, lambda images: (image for image in images), lambda i: map(np.copy, i)):
        learner, images, _ = runs.make("tiles")
        with pytest.raises(InputError, match="n_epochs is 2 but the images can be gone through"):
            learner.fit(once(images))
    learner, images, masks = runs.make("masked")
    with pytest.raises(InputError, match="only once"):
        learner.fit(Reread(images), mask=iter(masks))


def test_images_may_differ_in_size():
    learner, *_ = runs.make("surrogate", n_epochs=2)
    images = [runs.signals(size, 1, (4, 3), 0)[0] for size in [(25, 18), (9, 40), (33, 33)]]
    learner.fit(images)
    assert learner.n_steps_ == 6
    assert learner.n_images_ == 6
    codes = learner.transform(images)
    assert [code.shape[1:] for code in codes] == [image.shape for image in images]


def test_one_image_is_a_list_of_one():
    for kind in ("tiles", "channels", "1-D", "3-D"):
        learner, images, _ = runs.make(kind)
        learner.fit(images[0])
        runs.check_same(learner, runs.make(kind)[0].fit([images[0]]))
        runs.check_same(learner, runs.make(kind)[0].fit(images[:1]))


def test_images_are_looked_at_one_window_after_the_other():
    """However many there are, few are in memory."""
    ahead = []

    def endless():
        for i in range(1000):
            ahead.append(i)
            yield images[i % len(images)]

    learner, images, _ = runs.make("tiles", n_epochs=1, window=3, batch_size=1)
    learner.fit(endless(), callback=lambda at: at.n_images_ > 5)
    assert len(ahead) == 6
    ahead.clear()
    learner.set_params(split=None).fit(endless(), callback=lambda at: at.n_images_ > 5)
    assert len(ahead) == 6


def test_images_are_counted_in_parts():
    learner, images, _ = runs.make("tiles", n_epochs=1, batch_size=1)
    counted = []
    learner.fit(images, callback=lambda at: counted.append(at.n_images_))
    n_tiles = prod(-(-n // 12) for n in images[0].shape)
    np.testing.assert_allclose(counted, np.arange(1, len(images) * n_tiles + 1) / n_tiles)
    learner.partial_fit(images[0])
    assert learner.n_images_ == pytest.approx(len(images) + 1)
