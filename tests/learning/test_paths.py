"""All domains of an algorithm walk the same path of dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

import convdict as cd

DOMAINS = {
    "surrogate": ["lag", "frequency", "sparse", "dense"],
    "sgd": ["sparse", "frequency", "dense"],
}
SHAPES = {  # kernel, image, channel axis
    "1-D": ((9,), (40,), None),
    "2-D": ((3, 4), (15, 17), None),
    "2-D channels": ((3, 3), (12, 14, 2), -1),
    "3-D": ((2, 3, 2), (7, 8, 9), None),
}


def path(images, domain, **settings):
    """The dictionary after every step."""
    learner = cd.ConvDictLearner(
        domain=domain, split=None, tolerance=(1e-11, 0.0), coding_tol=1e-6, dtype="float64",
        random_state=0, shuffle=False, **settings,
    )  # fmt: skip
    found = []
    learner.fit(images, callback=lambda at: found.append(at.dictionary_))
    return np.array(found)


@pytest.mark.parametrize("constraint", ["ball", "sphere"])
@pytest.mark.parametrize("method", list(DOMAINS))
@pytest.mark.parametrize("shape", list(SHAPES))
def test_domains_agree(shape, method, constraint, rng):
    kernel, size, channel_axis = SHAPES[shape]
    images = rng.standard_normal((6, *size))
    settings = {
        "method": method, "constraint": constraint, "n_kernels": 4, "kernel_size": kernel,
        "penalty": 1.0, "channel_axis": channel_axis, "step_size": (0.5, 5.0),
    }  # fmt: skip
    first, *others = (path(images, domain, **settings) for domain in DOMAINS[method])
    assert np.abs(np.diff(first, axis=0)).max() > 1e-3  # it does learn
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-8)


@pytest.mark.parametrize("method", list(DOMAINS))
def test_exact_domains_agree_with_masks(method, rng):
    images = rng.standard_normal((4, 14, 13))
    images[rng.random(images.shape) < 0.3] = np.nan
    domains = ["sparse", "dense"] if method == "surrogate" else DOMAINS["sgd"]
    settings = {"method": method, "n_kernels": 3, "kernel_size": (3, 3), "penalty": 0.5}
    first, *others = (path(images, domain, **settings) for domain in domains)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-8)


def test_imputation_agrees_between_domains_and_with_the_exact_one_in_the_end(rng):
    images = rng.standard_normal((3, 14, 13))
    images[rng.random(images.shape) < 0.3] = np.nan
    settings = {"n_kernels": 3, "kernel_size": (3, 3), "penalty": 0.5, "n_epochs": 60}
    lag, frequency, exact = (
        path(images, domain, **settings) for domain in ("lag", "frequency", "sparse")
    )
    np.testing.assert_allclose(frequency[:30], lag[:30], atol=1e-8)
    values = [cd.evaluate(d[-1], images, 0.5, tol=1e-6).value for d in (lag, exact)]
    assert values[0] == pytest.approx(values[1], rel=0.02)


def test_kernel_by_kernel_comes_to_the_same_dictionary():
    """Another way to the same minimum of every surrogate."""
    images = np.random.default_rng(3).standard_normal((4, 18, 17))
    told = {"random_state": 0, "dtype": "float64", "constraint": "ball", "split": None}
    told |= {"tolerance": (1e-10, 0.0), "coding_tol": 1e-8, "shuffle": False}
    fista = cd.ConvDictLearner(3, (4, 3), 0.8, **told).partial_fit(images)
    kernels = cd.ConvDictLearner(3, (4, 3), 0.8, rule="coordinates", **told).partial_fit(images)
    np.testing.assert_allclose(kernels.dictionary_, fista.dictionary_, atol=1e-5)
