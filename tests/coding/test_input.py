"""Bad input is refused with a sentence; odd input does what the documentation says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import convdict as cd
from convdict.errors import ArtefactWarning, ConvergenceWarning, ConversionWarning, InputError

IMAGE = np.random.default_rng(0).standard_normal((12, 10))
KERNELS = np.random.default_rng(1).standard_normal((2, 3, 3))
COLOUR = np.random.default_rng(2).standard_normal((12, 10, 3))


def spoiled(array, value):
    array = array.copy()
    array.flat[5] = value
    return array


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"image": np.zeros((0, 4))}, "image is empty"),
        ({"image": IMAGE.astype(object)}, "image holds object values"),
        ({"image": IMAGE + 1j}, "image holds complex128 values"),
        ({"image": "photo.png"}, "image holds <U9 values"),
        ({"image": [[1.0, 2.0], [3.0]]}, "image cannot be read as an array"),
        ({"image": np.float64(3)}, "0 spatial axes"),
        ({"image": np.zeros((2, 2, 2, 2))}, "4 spatial axes"),
        ({"image": spoiled(IMAGE, np.inf)}, "1 infinite values"),
        ({"image": np.full((12, 10), np.nan)}, "hides every pixel"),
        ({"dictionary": np.zeros((0, 3, 3))}, "dictionary is empty"),
        ({"dictionary": KERNELS[0]}, "give 3 axes"),
        ({"dictionary": KERNELS[:, None]}, "which axis they are on"),
        ({"dictionary": spoiled(KERNELS, np.nan)}, "dictionary holds NaN"),
        ({"dictionary": np.ones((2, 13, 3))}, "boundary='free'"),
        ({"penalty": -0.1}, "must be positive"),
        ({"penalty": 0}, "must be positive"),
        ({"penalty": np.nan}, "must be positive"),
        ({"penalty": [1.0, 2.0, 3.0]}, "dictionary has 2 kernels"),
        ({"penalty": "much"}, "or 'auto'"),
        ({"mask": np.ones((12, 11))}, r"mask has shape \(12, 11\) but the image has shape"),
        ({"mask": np.zeros((12, 10))}, "hides every pixel"),
        ({"mask": -np.ones((12, 10))}, "mask holds negative"),
        ({"mask": np.full((12, 10), np.nan)}, "mask holds negative, NaN"),
        ({"solver": "magic"}, "working_set, admm, fista"),
        ({"solver": cd.ADMM}, "give a name, or settings"),
        ({"boundary": "mirror"}, "circular, free"),
        ({"tol": 0}, "tol is 0"),
        ({"tol": 1.5}, "below 1"),
        ({"tol": True}, "tol is True"),
        ({"callback": 3}, "callback is 3"),
        ({"channel_axis": "last"}, "channel_axis is 'last'"),
        ({"image": IMAGE * 1e40}, "largest value of image"),
        ({"image": IMAGE * 1e-200}, "largest value of image"),
        ({"dictionary": KERNELS * 1e35}, "largest value of dictionary"),
        ({"mask": np.full((12, 10), 1e200)}, "largest value of mask"),
        ({"device": "cuda"}, "runs on 'cpu'"),
        ({"dtype": "float16"}, "give float32 or float64"),
        ({"channel_axis": 2}, "channel_axis is 2"),
        ({"image": COLOUR, "dictionary": KERNELS[:, None], "channel_axis": 2}, "must agree"),
        ({"init": np.zeros((2, 12, 10))}, "give Codes"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(changes, complaint):
    arguments = {"image": IMAGE, "dictionary": KERNELS, "penalty": 1.0, **changes}
    with pytest.raises(InputError, match=complaint):
        cd.sparse_code(**arguments)


def test_codes_of_another_problem_cannot_start_this_one():
    codes = cd.sparse_code(IMAGE, KERNELS, 1.0)
    with pytest.raises(InputError, match="init has shape"):
        cd.sparse_code(IMAGE[:11], KERNELS, 1.0, init=codes)
    with pytest.raises(InputError, match="use the dictionary they were made with"):
        cd.reconstruct(codes, KERNELS[:1])


def test_whole_numbers_are_converted_and_said_so():
    image = (IMAGE * 100).astype(np.int16)
    with pytest.warns(ConversionWarning, match="int16"):
        codes = cd.sparse_code(image, KERNELS, 50.0)
    assert codes == cd.sparse_code(image.astype(float), KERNELS, 50.0)


def test_small_images_warn_of_artefacts_under_a_circular_boundary_only():
    with pytest.warns(ArtefactWarning, match="twice the kernels"):
        cd.sparse_code(IMAGE[:5], KERNELS, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.sparse_code(IMAGE[:2], KERNELS, 1.0, boundary="free")


@pytest.mark.parametrize("solver", ["working_set", "admm", "fista"])
def test_nan_masked_arrays_and_masks_all_mean_missing(solver):
    hidden = np.random.default_rng(3).random(IMAGE.shape) < 0.3
    garbage = np.where(hidden, 1e6, IMAGE)
    same = [
        cd.sparse_code(np.where(hidden, np.nan, IMAGE), KERNELS, 1.0, solver=solver),
        cd.sparse_code(garbage, KERNELS, 1.0, ~hidden, solver=solver),
        cd.sparse_code(np.ma.masked_array(garbage, hidden), KERNELS, 1.0, solver=solver),
        cd.sparse_code(np.where(hidden, np.inf, IMAGE), KERNELS, 1.0, 1 - hidden, solver=solver),
    ]
    assert all(codes == same[0] for codes in same)
    assert np.isfinite(cd.reconstruct(same[0], KERNELS)).all()


@pytest.mark.parametrize("solver", ["working_set", "admm", "fista"])
def test_a_mask_of_ones_is_no_mask(solver):
    plain = cd.sparse_code(IMAGE, KERNELS, 1.0, solver=solver)
    for ones in (np.ones(IMAGE.shape), np.ones(IMAGE.shape, bool), np.ones(IMAGE.shape, int)):
        assert cd.sparse_code(IMAGE, KERNELS, 1.0, ones, solver=solver) == plain


def test_a_spatial_mask_hides_all_channels():
    d = np.random.default_rng(4).standard_normal((2, 3, 3, 3))
    mask = np.random.default_rng(5).random((12, 10)) < 0.7
    thin = cd.sparse_code(COLOUR, d, 1.0, mask, channel_axis=-1)
    full = cd.sparse_code(COLOUR, d, 1.0, np.repeat(mask[..., None], 3, -1), channel_axis=-1)
    assert thin == full


def test_a_zero_kernel_is_never_used():
    d = np.concatenate([KERNELS, np.zeros((1, 3, 3))])
    codes = cd.sparse_code(IMAGE, d, 1.0)
    assert set(codes.kernel) <= {0, 1}
    assert codes.objective == pytest.approx(cd.sparse_code(IMAGE, KERNELS, 1.0).objective, rel=2e-3)


def test_an_image_of_zeros_has_no_codes():
    codes = cd.sparse_code(np.zeros((12, 10)), KERNELS, 1.0)
    assert codes.nnz == 0
    assert codes.gap == codes.objective == 0


def test_running_out_of_iterations_warns_with_a_sentence():
    with pytest.warns(ConvergenceWarning, match=r"Not converged: gap .* wanted 1.0e-04"):
        codes = cd.sparse_code(
            IMAGE, KERNELS, 0.1, tol=1e-4, solver=cd.WorkingSet(max_iter=1, dense=1)
        )
    assert not codes.converged
    assert codes.gap > 1e-4


@pytest.mark.parametrize(
    ("solver", "settings"),
    [
        (cd.WorkingSet, {"max_iter": -1}),
        (cd.WorkingSet, {"passes": 2.5}),
        (cd.WorkingSet, {"share": 2.5}),
        (cd.WorkingSet, {"effort": float("nan")}),
        (cd.FISTA, {"max_iter": -3}),
        (cd.FISTA, {"check_every": 0}),
        (cd.ADMM, {"rho": "a"}),
        (cd.ADMM, {"rho": float("nan")}),
        (cd.ADMM, {"over_relaxation": 5}),
        (cd.ADMM, {"stop": "soon"}),
        (cd.ADMM, {"mask_method": "none"}),
    ],
)
def test_bad_settings_are_refused_when_they_are_made(solver, settings):
    with pytest.raises(InputError, match=f"{next(iter(settings))} is"):
        solver(**settings)


def test_what_is_not_finite_is_no_certificate():
    class Diverged:
        def solve(self, problem, *, start, tol, callback):
            found = cd.WorkingSet().solve(problem, start=start, tol=tol, callback=callback)
            return found._replace(codes=found.codes._replace(value=found.codes.value * np.inf))

    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning):
        codes = cd.sparse_code(IMAGE, KERNELS, 1.0, solver=Diverged())
    assert not codes.converged
    assert codes.gap == np.inf


@pytest.mark.parametrize("weight", [1e-20, 1e-3, 1e20])
def test_units_of_weights_do_not_matter(weight):
    mask = np.random.default_rng(6).uniform(0.5, 1, IMAGE.shape)
    plain = cd.sparse_code(IMAGE, KERNELS, 1.0, mask)
    scaled = cd.sparse_code(IMAGE, KERNELS, weight**2, weight * mask)
    assert scaled.converged
    assert scaled.objective == pytest.approx(plain.objective * weight**2, rel=1e-3)
    assert scaled.n_iter <= plain.n_iter + 2


@pytest.mark.parametrize("scale", [1e-18, 1e-3, 1e12])
def test_units_do_not_matter(scale):
    plain = cd.sparse_code(IMAGE, KERNELS, 1.0)
    scaled = cd.sparse_code(IMAGE * scale, KERNELS, 1.0 * scale)
    assert scaled.converged
    assert scaled.objective == pytest.approx(plain.objective * scale**2, rel=1e-3)


def test_kernels_of_very_unequal_norm(rng):
    factors = np.array([1e-3, 1e3])[:, None, None]
    codes = cd.sparse_code(IMAGE, KERNELS * factors, [1e-3, 1e3])
    plain = cd.sparse_code(IMAGE, KERNELS, 1.0)
    assert codes.objective == pytest.approx(plain.objective, rel=2e-3)


def test_inputs_are_never_modified(rng):
    image, d, mask = IMAGE.copy(), KERNELS.copy(), rng.random(IMAGE.shape)
    image[0, 0] = np.nan
    for array in (image, d, mask):
        array.setflags(write=False)
    before = image.copy(), d.copy(), mask.copy()
    codes = cd.sparse_code(image, d, 1.0, mask, boundary="free")
    codes.value.setflags(write=False)
    values = codes.value.copy()
    cd.sparse_code(image, d, 1.1, mask, boundary="free", init=codes)
    for now, then in zip((image, d, mask, codes.value), (*before, values), strict=True):
        np.testing.assert_array_equal(now, then)


def test_strides_and_byte_orders_do_not_matter():
    plain = cd.sparse_code(IMAGE, KERNELS, 1.0)
    wide = np.zeros((24, 20))
    wide[::2, ::2] = IMAGE
    for image in (wide[::2, ::2], np.asfortranarray(IMAGE), IMAGE.astype(">f8")):
        assert cd.sparse_code(image, np.asfortranarray(KERNELS), 1.0) == plain
