"""The batch learner: its manners, its errors, and SPORCO's opinion where it is at hand."""

import numpy as np
import pytest

import convdict as cd
from convdict.errors import InputError, NotFittedError

METHODS = ["consensus", "slices", "decoupled"]


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    d = rng.standard_normal((4, 6, 6))
    x = rng.standard_normal((6, 4, 32, 32)) * (rng.random((6, 4, 32, 32)) < 0.02)
    spectra = np.fft.fft2(d, (32, 32)) * np.fft.fft2(x)
    return np.fft.ifft2(spectra.sum(axis=1)).real.astype(np.float32) / 4


def learner(**told):
    settings = {"n_iter": 40, "random_state": 0, "method": "consensus"} | told
    return cd.BatchDictLearner(4, (6, 6), 0.05, **settings)


@pytest.mark.parametrize("method", METHODS)
def test_it_learns(images, method):
    start = learner(method=method, n_iter=1).fit(images)
    done = learner(method=method, n_iter=80).fit(images)
    assert done.evaluate(images).value < 0.9 * start.evaluate(images).value
    assert done.score(images) == pytest.approx(-done.evaluate(images).value)
    norms = np.linalg.norm(done.dictionary_.reshape(4, -1), axis=1)
    assert (norms <= 1 + 1e-5).all()
    assert done.n_iter_ == 80
    assert (np.diff(done.history_.time) > 0).all()
    assert done.history_.value[-1] < done.history_.value[0]
    assert 0 < done.history_.density[-1] < 0.5


def test_the_ball_and_the_sphere(images):
    sphere = learner(constraint="sphere").fit(images)
    norms = np.linalg.norm(sphere.dictionary_.reshape(4, -1), axis=1)
    np.testing.assert_allclose(norms, 1, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_on_any_number_of_threads(images, method):
    threads = cd.get_num_threads()
    found = []
    try:
        for n in (1, 3):
            cd.set_num_threads(n)
            found.append(learner(method=method, n_iter=12).fit(images).dictionary_)
    finally:
        cd.set_num_threads(threads)
    np.testing.assert_array_equal(*found)


def test_hidden_samples_count_for_nothing(images):
    mask = np.random.default_rng(1).random(images.shape[1:]) > 0.3
    clean = learner(method="decoupled").fit(images, mask)
    other = learner(method="decoupled").fit(np.where(mask, images, np.float32(77)), mask)
    np.testing.assert_array_equal(clean.dictionary_, other.dictionary_)
    missing = learner(method="decoupled").fit(np.where(mask, images, np.nan))
    np.testing.assert_array_equal(clean.dictionary_, missing.dictionary_)


def test_a_mask_of_ones_is_none(images):
    for method in METHODS:
        plain = learner(method=method, n_iter=3).fit(images)
        masked = learner(method=method, n_iter=3).fit(images, np.ones(images.shape[1:]))
        np.testing.assert_array_equal(plain.dictionary_, masked.dictionary_)


def test_manners(images):
    some = learner(n_iter=5)
    with pytest.raises(NotFittedError):
        some.dictionary_  # noqa: B018
    assert some.fit(list(images)) is some
    np.testing.assert_array_equal(some.dictionary_, learner(n_iter=5).fit(images).dictionary_)
    again = cd.BatchDictLearner(**some.get_params()).fit(images)
    np.testing.assert_array_equal(again.dictionary_, some.dictionary_)
    codes = some.transform(images[:2])
    assert all(one.converged for one in codes)
    assert some.inverse_transform(codes)[0].shape == images[0].shape
    stopped = learner(n_iter=5).fit(images, callback=lambda at: at.n_iter_ == 3)
    assert stopped.n_iter_ == 3
    assert learner(n_iter=500, tol=0.05).fit(images).n_iter_ < 500


@pytest.mark.parametrize(
    ("told", "images", "said"),
    [
        ({"tol": "x"}, np.ones((2, 9, 9)), "tol is 'x'"),
        ({"method": "sgd"}, np.ones((2, 9, 9)), "method is 'sgd'"),
        ({"n_iter": 0}, np.ones((2, 9, 9)), "n_iter"),
        ({"tol": -1}, np.ones((2, 9, 9)), "tol is -1"),
        ({"constraint": "cube"}, np.ones((2, 9, 9)), "constraint is 'cube'"),
        ({"init": np.ones((3, 6, 6))}, np.ones((2, 9, 9)), "init has shape"),
        ({}, [np.ones((9, 9)), np.ones((9, 8))], "image 1: it has shape"),
        ({}, [np.ones((5, 9))], "image 0: kernels of shape"),
        ({}, [], "images is empty"),
        ({}, iter([]), "images is empty"),
    ],
)
def test_bad_input(told, images, said):
    with pytest.raises(InputError, match=said):
        learner(**told).fit(images)


def test_masks_call_for_decoupling(images):
    with pytest.raises(InputError, match="takes no masks"):
        learner().fit(images, images[0] > 0)


def test_sporco_finds_no_better_dictionary(images):
    """Its batch learner with consensus, the same start, many iterations of both."""
    cbpdndl = pytest.importorskip("sporco.dictlrn.cbpdndl")
    init = np.random.default_rng(2).standard_normal((4, 6, 6)).astype(np.float32)
    options = cbpdndl.ConvBPDNDictLearn.Options(
        {"Verbose": False, "MaxMainIter": 300}, dmethod="cns"
    )
    s = np.moveaxis(images, 0, -1)
    theirs = cbpdndl.ConvBPDNDictLearn(
        np.moveaxis(init, 0, -1), s, 0.05, options, dmethod="cns"
    ).solve()
    theirs = np.moveaxis(theirs.squeeze(), -1, 0)
    told = {"init": init, "n_iter": 300, "constraint": "sphere"}
    ours = learner(**told).fit(images).dictionary_
    value = cd.evaluate(ours, images, 0.05).value
    assert value < 1.02 * cd.evaluate(theirs, images, 0.05).value
    decoupled = learner(**told, method="decoupled").fit(images).dictionary_
    assert cd.evaluate(decoupled, images, 0.05).value < 1.1 * value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**40])
def test_units_do_not_matter(images, method, unit):
    """Signals and penalty in another unit: the same dictionary."""
    usual = learner(method=method, n_iter=15).fit(images)
    other = cd.BatchDictLearner(4, (6, 6), 0.05 * unit, method=method, n_iter=15, random_state=0)
    other.fit(images * np.float32(unit))
    np.testing.assert_allclose(other.dictionary_, usual.dictionary_, atol=1e-5)
    np.testing.assert_allclose(other.history_.value, unit**2 * usual.history_.value, rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_it_stops_when_it_has_settled_and_not_before(images, method):
    """Early iterations, in which nothing is coded yet, do not count as settled."""
    some = learner(method=method, n_iter=400, tol=0.02).fit(images)
    assert 5 < some.n_iter_ < 400
    assert some.history_.residual[-1] <= 0.02
    assert some.history_.density[-1] > 0
    blank = learner(method=method, n_iter=4, tol=0.02).fit(np.zeros_like(images))
    assert blank.n_iter_ == 4


@pytest.mark.parametrize("kernel", [(9,), (3, 4, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_signals_of_other_axes_in_float64(method, kernel):
    rng = np.random.default_rng(3)
    signals = rng.standard_normal((3, *(4 * k for k in kernel)))
    told = {"method": method, "dtype": "float64", "random_state": 0, "n_iter": 30}
    some = cd.BatchDictLearner(4, kernel, 0.8, **told).fit(signals)
    start = cd.BatchDictLearner(4, kernel, 0.8, **told | {"n_iter": 1}).fit(signals)
    assert some.dictionary_.dtype == np.float64
    assert some.dictionary_.shape == (4, *kernel)
    assert some.evaluate(signals).value < start.evaluate(signals).value


def test_weights_are_squared(images):
    """Weights of two count like the same image with twice the contrast, and twice the penalty."""
    weighted = learner(method="decoupled", n_iter=25)
    weighted.set_params(penalty=0.1).fit(images, np.full(images.shape[1:], 2.0))
    values = [
        cd.sparse_code(s, weighted.dictionary_, 0.1, np.full(s.shape, 2.0)).objective
        for s in images
    ]
    assert weighted.evaluate(images, np.full(images.shape[1:], 2.0)).value == pytest.approx(
        np.mean(values), rel=1e-2
    )
    start = learner(method="decoupled", n_iter=1).set_params(penalty=0.1)
    start.fit(images, np.full(images.shape[1:], 2.0))
    assert weighted.history_.value[-1] < 0.9 * start.history_.value[-1]


def test_a_fit_that_fails_loses_nothing(images):
    some = learner(n_iter=3).fit(images)
    before = some.dictionary_
    with pytest.raises(InputError):
        some.set_params(method="nobody").fit(images)
    with pytest.raises(InputError):
        some.set_params(method="consensus").fit([images[0], images[0][:20]])
    np.testing.assert_array_equal(some.dictionary_, before)
    assert some.n_iter_ == 3
    with pytest.raises(InputError, match="callback is 3"):
        some.fit(images, callback=3)


def test_what_does_not_fit_into_memory_is_not_begun(images, monkeypatch):
    from convdict.learning.batch import learner as module

    assert module.physical_memory() is None or module.physical_memory() > 1e8
    monkeypatch.setattr(module, "physical_memory", lambda: 1 << 16)
    with pytest.raises(InputError, match="use ConvDictLearner"):
        learner().fit(images)
