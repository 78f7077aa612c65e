"""Bad input is refused with a sentence, and nothing that was learned is lost."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import convdict as cd
from convdict.errors import (
    ArtefactWarning,
    ConvdictError,
    ConvdictWarning,
    ConversionWarning,
    InputError,
    NotFittedError,
)
from tests.oracles import runs

IMAGES = runs.signals((25, 18), 4, (4, 3), 3)
INIT = np.ones((3, 4, 3))


def spoiled(value, at=2):
    images = IMAGES.copy()
    images[at, 5, 6] = value
    return images


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"n_kernels": 0}, "n_kernels is 0"),
        ({"n_kernels": 2.5}, "n_kernels is 2.5"),
        ({"kernel_size": 0}, "kernel_size is 0"),
        ({"kernel_size": "12"}, "kernel_size is '12'"),
        ({"kernel_size": (3, 3, 3, 3)}, "kernel_size is"),
        ({"kernel_size": (3.5, 3)}, "kernel_size is"),
        ({"kernel_size": None}, "kernel_size is None"),
        ({"penalty": -1}, "penalty is -1"),
        ({"penalty": "much"}, "penalty is 'much'"),
        ({"penalty": None}, "penalty is None"),
        ({"penalty": [0.1, 0.1]}, r"penalty has shape \(2,\)"),
        ({"penalty": [0.1, 0.1, np.nan]}, "penalty is"),
        ({"method": "Surrogate"}, "method is 'Surrogate': give one of surrogate, sgd"),
        ({"method": None}, "method is None"),
        ({"domain": "time"}, "domain is 'time': give one of lag, frequency"),
        ({"forgetting": -1}, "forgetting is -1"),
        ({"forgetting": np.nan}, "forgetting is nan"),
        ({"forgetting": "some"}, "forgetting is 'some'"),
        ({"step_size": 0}, "step_size is 0"),
        ({"step_size": (1, 2, 3)}, "step_size is"),
        ({"step_size": (-1, 2)}, "step_size is"),
        ({"step_size": None}, "step_size is None"),
        ({"tolerance": 0.1}, "tolerance is 0.1"),
        ({"tolerance": (0, 1)}, "tolerance is"),
        ({"split": 0}, "split is 0"),
        ({"split": "some"}, "split is 'some'"),
        ({"split": (12, 12, 12)}, "split is"),
        ({"split": 12.5}, "split is 12.5"),
        ({"sampling": "random"}, "sampling is 'random'"),
        ({"window": 0}, "window is 0"),
        ({"window": "all"}, "window is 'all'"),
        ({"boundary": "mirror"}, "boundary is 'mirror'"),
        ({"channel_axis": "last"}, "channel_axis is 'last'"),
        ({"channel_axis": 5}, "channel_axis is 5"),
        ({"constraint": "cube"}, "constraint is 'cube'"),
        ({"zero_mean": True, "nonnegative_kernels": True}, "zero_mean and nonnegative_kernels"),
        ({"init": np.ones((3, 3, 4))}, r"init has shape \(3, 3, 4\)"),
        ({"init": np.ones((2, 4, 3))}, r"init has shape \(2, 4, 3\)"),
        ({"init": INIT * np.nan}, "init: dictionary holds NaN"),
        ({"init": INIT.astype(str)}, "init: dictionary holds <U"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"n_epochs": 0}, "n_epochs is 0"),
        ({"n_epochs": True}, "n_epochs is True"),
        ({"revisit": "never"}, "revisit is 'never'"),
        ({"codes_memory": -1}, "codes_memory is -1"),
        ({"codes_memory": np.nan}, "codes_memory is nan"),
        ({"coding_tol": 0}, "coding_tol is 0"),
        ({"solver": "magic"}, "solver is 'magic'"),
        ({"solver": cd.ADMM}, "solver is"),
        ({"validation_interval": 0}, "validation_interval is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"dtype": "number"}, "dtype is 'number'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "seed"}, "random_state is 'seed'"),
        ({"device": "cuda"}, "device is 'cuda'"),
    ],
)
@pytest.mark.parametrize("go", ["fit", "partial_fit"])
def test_every_parameter_is_checked_and_named(changes, complaint, go):
    learner, *_ = runs.make("surrogate", **changes)  # which checks nothing, so that clones work
    with pytest.raises(InputError, match=complaint):
        getattr(learner, go)(IMAGES)
    with pytest.raises(NotFittedError):
        _ = learner.dictionary_


@pytest.mark.parametrize(
    ("images", "complaint"),
    [
        ([], "images is empty"),
        ((), "images is empty"),
        (np.zeros((0, 25, 18)), "images is empty"),
        (np.zeros((2, 0, 18)), "image is empty"),
        (3, "images is a int"),
        (None, "images is a NoneType"),
        ({"a": IMAGES[0]}, "images is a dict"),
        ("photos/", "there is no file or folder photos/"),
        (b"photos/", "give paths as text"),
        (np.float64(3), r"images has shape \(\)"),
        (np.zeros(7), r"images has shape \(7,\)"),
        (np.zeros((2, 2, 25, 18)), r"images has shape \(2, 2, 25, 18\)"),
        (np.array([None, 3], object), "image 0: image holds object values"),
        ([IMAGES[0], IMAGES], "image 1: it has shape"),
        ([IMAGES[0], "photo.png"], "image 1: image holds <U9 values"),
        ([IMAGES[0], IMAGES[1] + 1j], "image 1: image holds complex128 values"),
        ([IMAGES[0], [[1.0, 2.0], [3.0]]], "image 1: image cannot be read as an array"),
        ([IMAGES[0], IMAGES[1][:3]], r"image 1: kernels of shape \(4, 3\) do not fit on a signal"),
        ([IMAGES[0], np.full((25, 18), np.nan)], "image 1: the mask .* hides every pixel"),
        (spoiled(np.inf), "image 2: image holds 1 infinite values"),
        (spoiled(1e200), "image 2: the largest value"),
    ],
)
@pytest.mark.parametrize("go", ["fit", "partial_fit", "transform"])
def test_bad_images_are_refused_with_a_sentence(images, complaint, go):
    learner, *_ = runs.make("surrogate", n_epochs=1, shuffle=False)
    if go == "transform":
        learner.fit(IMAGES)
        complaint = complaint.replace("a signal", "an image").replace(
            "it has shape", "dictionary has"
        )
    with pytest.raises(InputError, match=complaint):
        getattr(learner, go)(images)


@pytest.mark.parametrize("go", ["fit", "partial_fit", "resume"])
def test_a_callback_is_a_function(go):
    with pytest.raises(InputError, match="callback is 3"):
        getattr(runs.make("surrogate")[0], go)(IMAGES, callback=3)


@pytest.mark.parametrize("go", ["fit", "partial_fit"])
def test_streams_without_images(go):
    with pytest.raises(InputError, match="images is empty"):
        getattr(runs.make("surrogate", n_epochs=1)[0], go)(iter(()))
    with pytest.raises(InputError, match="images is empty"):
        list(runs.make("surrogate")[0].fit(IMAGES).transform(iter(())))


def test_a_fit_that_cannot_begin_loses_nothing():
    learner, *_ = runs.make("surrogate")
    learner.fit(IMAGES, validation=IMAGES[:1])
    before = copy.deepcopy(learner)
    for images in ([], np.zeros((25, 18, 3, 2)), spoiled(np.inf, at=slice(None)), iter(())):
        with pytest.raises(InputError):
            learner.fit(images)
        runs.check_same(learner, before)
    with pytest.raises(InputError, match="method is 'magic'"):
        learner.set_params(method="magic").fit(IMAGES)
    runs.check_same(learner, before, but=["parameters"])


def test_small_tiles_are_refused_and_warned_of():
    learner, *_ = runs.make("surrogate", split=3)
    with pytest.raises(InputError, match=r"do not fit on a signal of shape \(2, 3\)"):
        learner.fit(IMAGES)
    with pytest.warns(ArtefactWarning, match=r"signals of shape \(6, 6\) are smaller than twice"):
        learner.set_params(split=7).fit(IMAGES)
    learner.set_params(split=3, boundary="free").fit(IMAGES)
    assert np.isfinite(learner.dictionary_).all()


def test_the_number_of_channels_may_not_change():
    learner, images, _ = runs.make("channels", split=None)
    learner.partial_fit(images)
    before = learner.dictionary_
    for wrong in (images[..., :1], np.concatenate([images, images], -1)):
        with pytest.raises(
            InputError, match=r"image 4: it has \d channels but the dictionary has 2"
        ):
            learner.partial_fit(wrong)
    with pytest.raises(InputError, match="channels"):
        learner.transform(images[..., :1])
    np.testing.assert_array_equal(learner.dictionary_, before)


class Broken(Exception):
    pass


@pytest.mark.parametrize("kind", ["surrogate", "sgd", "tiles", "regions"])
def test_a_stream_that_breaks_leaves_what_was_learned(kind, tmp_path):
    def breaking():
        yield from images
        raise Broken

    settings = {"n_epochs": 1, "batch_size": 1, "window": 2, "shuffle": False}
    learner, images, _ = runs.make(kind, **settings)
    for go in ("fit", "partial_fit"):
        with pytest.raises(Broken):
            getattr(learner, go)(breaking())
    plain = runs.make(kind, **settings)[0].fit(images)
    runs.check_same(learner, plain.partial_fit(images), but=["epoch", "consumed"])
    learner.save(tmp_path / "learner")
    runs.check_same(cd.load(tmp_path / "learner").partial_fit(images), learner.partial_fit(images))


@pytest.mark.parametrize("kind", ["surrogate", "sgd", "3-D"])
def test_a_fit_that_broke_can_be_resumed(kind):
    """A disk that was not there for a while costs nothing."""

    class Disk(list):
        working = False

        def __getitem__(self, index):
            if index == 2 and not self.working:
                raise Broken
            return super().__getitem__(index)

    settings = {"batch_size": 1, "split": None}
    learner, images, _ = runs.make(kind, **settings)
    disk = Disk(images)
    with pytest.raises(Broken):
        learner.fit(disk)
    disk.working = True
    runs.check_same(learner.resume(disk), runs.make(kind, **settings)[0].fit(images))


@pytest.mark.parametrize("method", ["surrogate", "sgd"])
def test_a_bad_image_after_good_ones_leaves_what_was_learned(method):
    learner, *_ = runs.make("surrogate", method=method, n_epochs=1, shuffle=False)
    with pytest.raises(InputError, match="image 2: image holds 1 infinite"):
        learner.fit(spoiled(np.inf))
    plain = runs.make("surrogate", method=method, n_epochs=1)[0].partial_fit(IMAGES[:2])
    np.testing.assert_array_equal(learner.dictionary_, plain.dictionary_)
    learner.partial_fit(IMAGES[2:])
    assert learner.n_steps_ == 4


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_steps_that_are_far_too_large_are_said_to_be():
    learner, *_ = runs.make("sgd", constraint="ball", dtype="float32", n_epochs=1)
    learner.fit(IMAGES)
    before = learner.dictionary_
    learner, *_ = runs.make("sgd", dtype="float32", step_size=1e38, init=before)
    with pytest.raises(ConvdictError, match="no longer finite: the step size is too large"):
        learner.fit(IMAGES)


def test_whole_numbers_are_converted_and_said_so():
    whole = (IMAGES * 100).astype(np.int16)
    learner, *_ = runs.make("surrogate", penalty=30.0)
    with pytest.warns(ConversionWarning, match="int16"):
        learner.fit(whole)
    runs.check_same(learner, runs.make("surrogate", penalty=30.0)[0].fit(whole.astype(float)))


@pytest.mark.parametrize("value", [0.0, 0.01])
@pytest.mark.parametrize("method", ["surrogate", "sgd"])
@pytest.mark.parametrize("go", ["fit", "partial_fit"])
def test_images_that_say_nothing_change_nothing(go, method, value):
    """Zeros, or a constant too faint for any code; what was learned before stays."""
    blank = np.full((25, 18), value)
    learner, *_ = runs.make("surrogate", method=method, n_epochs=1)
    with pytest.warns(ConvdictWarning, match="nothing was learned: the penalty is too large"):
        getattr(learner, go)([blank, blank])
    first = learner.dictionary_
    before = learner.partial_fit(IMAGES[0]).dictionary_
    assert (before != first).any()
    learner.partial_fit([blank] * 3)
    np.testing.assert_allclose(learner.dictionary_, before, atol=0.05)
    assert np.isfinite(learner.history_.value).all()
    learner.fit([IMAGES[0], blank, IMAGES[1]])
    assert learner.n_steps_ == 3


def test_blank_images_first_do_not_stop_the_automatic_penalty():
    learner, *_ = runs.make("surrogate", penalty="auto", n_epochs=1)
    with pytest.raises(InputError, match="they are zero: give a number"):
        learner.fit(np.zeros((2, 25, 18)))
    with pytest.raises(NotFittedError):
        _ = learner.penalty_
    learner.partial_fit(IMAGES)
    assert (learner.penalty_ > 0).all()


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e12])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_do_not_matter(scale, dtype):
    plain = runs.make("surrogate", dtype=dtype)[0].fit(IMAGES)
    scaled = runs.make("surrogate", dtype=dtype, penalty=0.3 * scale)[0].fit(IMAGES * scale)
    assert cd.dictionary_distance(plain.dictionary_, scaled.dictionary_).value < 1e-3
    np.testing.assert_allclose(scaled.history_.value, plain.history_.value * scale**2, rtol=0.02)


def test_what_was_not_learned_cannot_be_asked_for():
    learner, *_ = runs.make("surrogate")
    for ask in (
        lambda: learner.dictionary_,
        lambda: learner.history_,
        lambda: learner.penalty_,
        lambda: learner.n_steps_,
        lambda: learner.n_images_,
        lambda: learner.validation_,
        lambda: learner.transform(IMAGES),
        lambda: learner.inverse_transform([]),
        lambda: learner.score(IMAGES),
        lambda: learner.evaluate(IMAGES),
    ):
        with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
            ask()
    assert not hasattr(learner, "dictionary_")


def test_nothing_warns_that_need_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in runs.KINDS:
            learner, images, masks = runs.make(kind)
            learner.fit(images, mask=masks)
            learner.transform(images, mask=masks)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"dictionary": np.ones(3)}, r"dictionary has shape \(3,\)"),
        ({"dictionary": np.ones((3, 4, 3)), "channel_axis": 0, "images": IMAGES}, "channels"),
        ({"images": []}, "images is empty"),
        ({"images": [IMAGES[0], IMAGES[1] * np.nan]}, "image 1: "),
        ({"mask": np.ones((4, 25, 17))}, "image 0: mask has shape"),
        ({"penalty": 0}, "image 0: penalty is 0"),
        ({"tol": 2}, "tol is 2"),
    ],
)
def test_evaluate_refuses_too(options, complaint):
    with pytest.raises(InputError, match=complaint):
        cd.evaluate(**{"dictionary": INIT, "images": IMAGES, **options})
