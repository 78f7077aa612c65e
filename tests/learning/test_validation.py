"""Validation: looks as often as asked for, an end where nothing gets better, the best kept."""

from __future__ import annotations

import numpy as np
import pytest

import convdict as cd
from tests.oracles import runs


def make(**changes):
    learner, images, _ = runs.make("surrogate", **{"n_epochs": 10, **changes})
    return learner, images, runs.signals((25, 18), 3, (4, 3), 9)


@pytest.mark.parametrize("split", [None, 12])
def test_looks_come_as_often_as_asked_for(split):
    learner, images, held_out = make(
        validation_interval=3, patience=100, n_epochs=2, split=split, batch_size=1
    )
    looked = []

    def note(at):
        if len(at.validation_) > len(looked):
            looked.append(at.n_images_)

    learner.fit(images, validation=held_out, callback=note)
    assert looked == pytest.approx([3, 6])
    assert len(learner.validation_) == 3
    assert learner.validation_[-1][0] == learner.n_steps_, "and once more at the end"


def test_learning_ends_when_nothing_gets_better_and_the_best_is_kept():
    learner, images, held_out = make(validation_interval=1, patience=3)
    found = {}
    learner.fit(
        images, validation=held_out, callback=lambda at: found.update({at.n_steps_: at.dictionary_})
    )
    values = np.array([value for _, value in learner.validation_])
    assert learner.n_steps_ < 40
    best = int(values.argmin())
    assert len(values) - 1 - best >= 3, "the last three looks brought nothing"
    assert values[-1] > values[best]
    assert learner.evaluate(held_out, tol=1e-2).value == values[best]
    if best < len(values) - 1:
        np.testing.assert_array_equal(learner.dictionary_, found[learner.validation_[best][0]])


def test_the_best_is_kept_at_the_end_of_all_epochs_too():
    learner, images, held_out = make(validation_interval=1, patience=1000, n_epochs=4)
    learner.fit(images, validation=held_out)
    values = [value for _, value in learner.validation_]
    assert len(values) == 16
    least = min(values)
    assert learner.evaluate(held_out, tol=1e-2).value <= least * (1 + 1e-4)


def test_values_are_those_of_evaluate_and_change_nothing():
    learner, images, held_out = make(validation_interval=2, patience=1000, n_epochs=1)
    said = []
    plain = make(n_epochs=1)[0].fit(
        images, callback=lambda at: said.append(at.evaluate(held_out, tol=1e-2).value)
    )
    learner.fit(images, validation=held_out)
    assert learner.validation_ == [(2, said[1]), (4, said[3])]
    np.testing.assert_array_equal(learner.history_.value, plain.history_.value)


def test_fit_begins_validation_anew():
    learner, images, held_out = make(validation_interval=2, patience=2)
    first = learner.fit(images, validation=held_out).validation_
    assert learner.fit(images, validation=held_out).validation_ == first
    assert learner.fit(images).validation_ == []
    with pytest.raises(cd.errors.InputError, match="images is empty"):
        learner.fit(images, validation=[])


def test_validation_images_may_come_from_a_generator():
    learner, images, held_out = make(validation_interval=1, patience=3, n_epochs=2)
    other = make(validation_interval=1, patience=3, n_epochs=2)[0]
    learner.fit(images, validation=(image for image in held_out))
    assert learner.validation_ == other.fit(images, validation=held_out).validation_
    assert len(learner.validation_) > 2
