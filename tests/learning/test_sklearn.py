"""scikit-learn's tools work with the learner, and its checks pass where they apply."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import convdict as cd
from convdict import errors
from tests.oracles import runs

IMAGES = runs.signals((25, 18), 6, (4, 3), 3)


class OfTables(cd.ConvDictLearner, BaseEstimator):
    """A table of signals in, a table of codes out; no labels, where others have a mask.

    With kernels of one axis the rows of a table are signals. scikit-learn's checks pass labels
    on as the second argument and calculate with what `transform` returns.
    """

    def fit(self, X, y=None):
        return super().fit(X)

    def partial_fit(self, X, y=None):
        return super().partial_fit(X)

    def transform(self, X):
        return np.array([codes.to_dense().ravel() for codes in super().transform(X)])

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def score(self, X, y=None):
        return super().score(X)


ANY_LENGTH = "signals of any length are learned from, and coded"
DOES_NOT_APPLY = {
    "check_n_features_in": ANY_LENGTH,
    "check_n_features_in_after_fitting": ANY_LENGTH,
    "check_transformer_general": ANY_LENGTH,
    "check_fit1d": "an array of one axis is one signal",
    "check_fit2d_predict1d": "an array of one axis is one signal",
    "check_dtype_object": "arrays of objects are lists of images, whose values must be numbers",
    "check_complex_data": "complex values are refused, in words of our own",
    "check_estimators_empty_data_messages": "empty images are refused, in words of our own",
    "check_transformer_preserve_dtypes": "`dtype` says of what precision codes are",
}


@parametrize_with_checks(
    [OfTables(2, 1, penalty=0.1, boundary="free", random_state=0)],
    expected_failed_checks=lambda _: DOES_NOT_APPLY,
)
def test_checks_of_scikit_learn(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("NumPy only")
    check(estimator)


def test_a_pipeline_learns_from_what_comes_before():
    highpass = FunctionTransformer(lambda images: [cd.lowpass_split(s)[1] for s in images])
    learner = cd.ConvDictLearner(3, (4, 3), 0.1, random_state=0)
    pipeline = make_pipeline(highpass, learner).fit(IMAGES)
    high = [cd.lowpass_split(s)[1] for s in IMAGES]
    runs.check_same(pipeline[-1], clone(learner).fit(high))
    assert pipeline.score(IMAGES) == learner.score(high)
    assert pipeline.transform(IMAGES) == learner.transform(high)
    assert pipeline.fit_transform(IMAGES) == learner.transform(high)
    mask = np.random.default_rng(0).random(IMAGES.shape) < 0.9
    pipeline.fit(IMAGES, mask)  # in the place of labels
    runs.check_same(pipeline[-1], clone(learner).fit(high, mask))


def test_clones_are_new_and_have_the_same_parameters():
    for kind in runs.KINDS:
        learner, images, masks = runs.make(kind, init=None)
        learner.fit(images, mask=masks)
        copy = clone(learner)
        assert repr(copy) == repr(learner)
        with pytest.raises(NotFittedError):
            check_is_fitted(copy)
        check_is_fitted(learner)
        runs.check_same(copy.fit(images, mask=masks), learner)


def test_parameters_by_name():
    learner = cd.ConvDictLearner(5, penalty=np.ones(5), init=np.ones((5, 2)), kernel_size=2)
    params = learner.get_params()
    assert params["n_kernels"] == 5
    assert params["init"] is learner.init
    assert cd.ConvDictLearner(**params).get_params() == params
    assert learner.set_params(penalty=0.3, method="sgd") is learner
    assert (learner.penalty, learner.method) == (0.3, "sgd")
    with pytest.raises(ValueError, match="'colour' is not a parameter of ConvDictLearner"):
        learner.set_params(colour="red")
    told = "n_kernels=5, kernel_size=2, penalty=0.3, method='sgd', init=<array (5, 2)>"
    assert repr(learner) == f"ConvDictLearner({told})"


def test_a_grid_search_finds_the_better_parameters():
    grid = {"n_kernels": [1, 4], "n_epochs": [1, 3]}
    learner = cd.ConvDictLearner(1, (4, 3), 0.1, random_state=0)
    search = GridSearchCV(learner, grid, cv=KFold(2)).fit(IMAGES)
    assert search.best_params_["n_kernels"] == 4
    by_hand = clone(learner).set_params(n_kernels=4, n_epochs=3)
    scores = [
        by_hand.fit(IMAGES[train]).score(IMAGES[test]) for train, test in KFold(2).split(IMAGES)
    ]
    np.testing.assert_array_equal(cross_val_score(by_hand, IMAGES, cv=KFold(2)), scores)


def test_scikit_learn_knows_our_error():
    learner = cd.ConvDictLearner()
    with pytest.raises(NotFittedError) as caught:
        learner.transform(IMAGES)
    assert isinstance(caught.value, errors.NotFittedError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, errors.NotFittedError)
    assert str(again) == str(caught.value)
