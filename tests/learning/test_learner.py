"""fit, partial_fit and resume lead to the same state wherever they should."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import convdict as cd
from tests.oracles import runs

METHODS = ["surrogate", "sgd"]


@pytest.fixture
def restored():
    before = cd.get_num_threads()
    yield
    cd.set_num_threads(before)


@pytest.mark.parametrize("kind", ["surrogate", "sgd", "masked", "free boundary", "channels", "1-D"])
def test_fit_is_repeated_partial_fit(kind):
    """Where cuts fall between batches."""
    learner, images, masks = runs.make(kind, shuffle=False, n_epochs=1, batch_size=2, split=None)
    learner.fit(images, mask=masks)
    other = runs.make(kind, shuffle=False, n_epochs=1, batch_size=2, split=None)[0]
    for part in (slice(0, 2), slice(2, 4), slice(4, None)):
        if len(images[part]):
            other.partial_fit(images[part], mask=None if masks is None else masks[part])
    runs.check_same(learner, other, but=["epoch"])


@pytest.mark.parametrize("options", [{}, {"sampling": "regions"}])
@pytest.mark.parametrize("method", METHODS)
def test_fit_is_repeated_partial_fit_on_mixed_tiles(method, options):
    """Where cuts fall between windows; the images themselves come in the order given."""
    settings = {"method": method, "n_epochs": 1, "window": 2, "batch_size": 1, **options}
    learner, images, _ = runs.make("tiles", **settings)
    learner.fit(image for image in images)
    other = runs.make("tiles", **settings)[0]
    other.partial_fit(images[:2]).partial_fit(iter(images[2:]))
    runs.check_same(learner, other, but=["epoch"])


@pytest.mark.parametrize("kind", ["tiles", "sgd"])
def test_fit_begins_anew(kind):
    learner, images, _ = runs.make(kind)
    once = copy.deepcopy(learner.fit(images))
    runs.check_same(learner.partial_fit(images[:1]).fit(images), once)


def test_seeds_decide_on_everything_random():
    def run(**changes):
        learner, images, _ = runs.make("tiles", **changes)
        return learner.fit(images)

    runs.check_same(run(random_state=3), run(random_state=3))
    generators = [np.random.default_rng(5), np.random.default_rng(5)]
    runs.check_same(*(run(random_state=g) for g in generators))
    old = [np.random.RandomState(5), np.random.RandomState(5)]
    runs.check_same(*(run(random_state=g) for g in old))
    firsts = [run(random_state=seed).dictionary_ for seed in (3, 4, None, None)]
    for i, d in enumerate(firsts):
        assert all(abs(d - other).max() > 1e-3 for other in firsts[i + 1 :])


def test_a_generator_gives_every_fit_other_numbers():
    learner, images, _ = runs.make("tiles", random_state=np.random.default_rng(5))
    first = learner.fit(images).dictionary_
    assert abs(learner.fit(images).dictionary_ - first).max() > 1e-3


class Recorded(list):
    """A list that knows in which order it was looked at."""

    def __init__(self, items):
        super().__init__(items)
        self.looks = []

    def __getitem__(self, index):
        self.looks.append(index)
        return super().__getitem__(index)


def test_shuffling_gives_every_epoch_its_own_order():
    learner, images, _ = runs.make("surrogate", n_epochs=3)
    images = Recorded([*images, *images])
    learner.fit(images)
    epochs = [tuple(images.looks[i : i + 8]) for i in (0, 8, 16)]
    assert [sorted(order) for order in epochs] == [list(range(8))] * 3
    assert len(set(epochs)) == 3
    images.looks.clear()
    learner.set_params(shuffle=False).fit(images)
    assert images.looks == [*range(8)] * 3


def test_without_shuffling_nothing_but_the_first_dictionary_is_random():
    d = np.random.default_rng(0).standard_normal((3, 4, 3))
    learners = []
    for seed in (8, 9):
        learner, images, _ = runs.make("tiles", shuffle=False, random_state=seed, init=d)
        learners.append(learner.fit(images))
    runs.check_same(*learners, but=["seed", "parameters", "begun_with"])


@pytest.mark.parametrize("kind", ["tiles", "sgd", "masked", "frequency", "channels", "3-D"])
def test_the_number_of_threads_changes_no_bit(kind, restored):
    learners = []
    for n in (1, 2, 3):
        cd.set_num_threads(n)
        learner, images, masks = runs.make(kind, batch_size=3)
        learners.append(learner.fit(images, mask=masks))
    for learner in learners[1:]:
        runs.check_same(learner, learners[0])


@pytest.mark.parametrize("method", METHODS)
def test_inputs_are_never_modified(method):
    learner, images, _ = runs.make("surrogate", method=method, dtype="float64", n_epochs=2)
    masks = np.random.default_rng(0).random(images.shape)
    init = np.random.default_rng(1).standard_normal((3, 4, 3))
    init /= np.linalg.norm(init.reshape(3, -1), axis=1)[:, None, None]
    penalty = np.full(3, 0.3)
    given = [images, masks, init, penalty]
    before = [array.copy() for array in given]
    for array in given:
        array.setflags(write=False)
    learner.set_params(init=init, penalty=penalty)
    learner.fit(images, mask=masks).partial_fit(images, mask=masks[0])
    learner.transform(images, mask=masks)
    learner.score(images)
    for now, then in zip(given, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_what_is_handed_out_is_not_what_is_learned_with():
    learner, images, _ = runs.make("surrogate")
    learner.fit(images)
    before = copy.deepcopy(learner)
    learner.dictionary_[:] = 0
    learner.penalty_[:] = 0
    learner.history_.value[:] = 0
    runs.check_same(learner, before)


@pytest.mark.parametrize("kind", ["surrogate", "sgd", "masked, exact", "frequency", "repaired"])
def test_copies_and_pickles_go_their_own_way(kind):
    learner, images, masks = runs.make(kind)
    learner.fit(images, mask=masks)
    for duplicate in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        runs.check_same(duplicate, learner)
        duplicate.partial_fit(images, mask=masks)
        assert duplicate.n_steps_ > learner.n_steps_
    other = copy.deepcopy(learner).partial_fit(images, mask=masks)
    runs.check_same(learner.partial_fit(images, mask=masks), other)


def test_parameters_changed_on_the_way_count_from_the_next_fit_on(tmp_path):
    learner, images, _ = runs.make("surrogate")
    other, *_ = runs.make("surrogate")
    learner.fit(images)
    learner.set_params(penalty=0.8, boundary="free", n_kernels=2, nonnegative=True)
    learner.partial_fit(images)
    other.fit(images).partial_fit(images)
    runs.check_same(learner, other, but=["parameters"])
    assert learner.score(images) == other.score(images)
    learner.save(tmp_path / "learner")
    loaded = cd.load(tmp_path / "learner")
    runs.check_same(loaded, learner)
    assert loaded.get_params() == learner.get_params()
    assert len(learner.fit(images).dictionary_) == len(loaded.fit(images).dictionary_) == 2


def test_more_epochs_may_be_asked_for_later():
    learner, images, _ = runs.make("surrogate", n_epochs=2)
    longer, *_ = runs.make("surrogate", n_epochs=4)
    learner.fit(images).set_params(n_epochs=4).resume(images)
    runs.check_same(learner, longer.fit(images), but=["begun_with"])


def test_images_after_a_fit_are_new_images():
    """What was kept of the first images says nothing about those that come next."""
    learner, images, _ = runs.make("surrogate", n_epochs=2)
    learner.fit(images)
    assert len(learner._run.kept) == len(images)
    total = learner._run.algorithm.statistics.total
    learner.partial_fit(np.pad(images[0], 3, "reflect"))
    size = images[0].size
    grown = (images[0].shape[0] + 6) * (images[0].shape[1] + 6)
    faded = (len(images) * size / (len(images) * size + grown)) ** learner.forgetting
    assert learner._run.algorithm.statistics.total == pytest.approx(total * faded + 1)


@pytest.mark.parametrize("sizes", [[(25, 18)] * 6, [(25, 18), (20, 22), (30, 12)] * 2])
@pytest.mark.parametrize("method", METHODS)
def test_images_that_change_between_epochs_are_not_taken_for_the_same(method, sizes):
    """As those of a loader that shuffles, or varies its images, by itself."""

    class Loader:
        rng = np.random.default_rng(0)

        def __iter__(self):
            for i in self.rng.permutation(len(sizes)):
                yield runs.signals(sizes[i], 1, (4, 3), int(i))[0]

    learner, *_ = runs.make("surrogate", method=method, n_epochs=3)
    learner.fit(Loader())
    assert learner.n_steps_ == 18
    if method == "surrogate":  # sums of what codes contribute keep A positive
        assert (learner._run.algorithm.statistics.energy >= 0).all()


def test_callbacks_see_every_step_and_may_stop():
    learner, images, _ = runs.make("surrogate", n_epochs=2)
    seen = []
    learner.fit(images, callback=lambda at: seen.append(at.n_steps_) or at.n_steps_ == 5)
    assert seen == [1, 2, 3, 4, 5]
    seen.clear()
    learner.partial_fit(images, callback=lambda at: seen.append(at.n_steps_) or at.n_steps_ == 7)
    assert seen == [6, 7]


@pytest.mark.parametrize("kind", list(runs.KINDS))
def test_what_callbacks_stop_can_be_resumed(kind):
    whole, images, masks = runs.make(kind)
    whole.fit(images, mask=masks)
    learner, *_ = runs.make(kind)
    learner.fit(images, mask=masks, callback=lambda at: at.n_steps_ == 3)
    assert learner.n_steps_ == 3 < whole.n_steps_
    learner.resume(images, mask=masks, callback=lambda at: at.n_steps_ == 6)
    runs.check_same(learner.resume(images, masks), whole)
    assert whole.history_.repaired.any() == (kind == "repaired")


def test_transform_gives_certified_codes_and_back():
    learner, images, _ = runs.make("surrogate")
    codes = learner.fit_transform(image for image in images[:1])
    assert len(codes) == 1
    codes = learner.fit_transform(images)
    assert [c.converged for c in codes] == [True] * len(images)
    alone = [cd.sparse_code(s, learner.dictionary_, learner.penalty_) for s in images]
    assert codes == alone
    again = learner.inverse_transform(codes)
    for s, back in zip(images, again, strict=True):
        assert np.linalg.norm(s - back) < 0.7 * np.linalg.norm(s)
    np.testing.assert_array_equal(learner.inverse_transform(codes[0])[0], again[0])
    assert learner.score(images) == -np.mean([c.objective for c in codes])
    plain = cd.evaluate(learner.dictionary_, images, learner.penalty_)
    assert learner.evaluate(images).value == plain.value


@pytest.mark.parametrize("kind", ["masked", "channels", "1-D", "3-D", "free boundary"])
def test_learning_lowers_the_functional_value(kind):
    learner, images, masks = runs.make(kind, n_epochs=6)
    learner.fit(images, mask=masks, callback=lambda at: True)
    before = learner.score(images, mask=masks)
    assert learner.resume(images, mask=masks).score(images, mask=masks) > before
