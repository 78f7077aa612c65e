"""The history: one record a step, in columns, that says what happened."""

from __future__ import annotations

import time

import numpy as np
import pytest

import convdict as cd
from convdict.errors import FileFormatError
from convdict.learning.history import History, Record
from tests.oracles import runs


def learned(kind="surrogate", **changes):
    learner, images, masks = runs.make(kind, **changes)
    return learner.fit(images, mask=masks), images


def test_records_are_rows_and_names_are_columns():
    learner, _ = learned()
    history = learner.history_
    assert len(history) == len(list(history)) == learner.n_steps_ == 8
    for name in Record._fields:
        column = getattr(history, name)
        assert column.dtype == np.float64
        np.testing.assert_array_equal(column, [getattr(record, name) for record in history])
    np.testing.assert_array_equal(history.step, np.arange(1, 9))
    np.testing.assert_array_equal(history.table(), np.array(list(history)))
    assert history[-1] == history[7] == list(history)[7]
    assert history[2:4] == [history[2], history[3]]
    assert history[-1] in history
    with pytest.raises(IndexError):
        history[8]
    with pytest.raises(AttributeError, match="no column 'values': it has step, time, value"):
        _ = history.values
    for text in (repr(history), repr(History())):
        assert text.startswith("<History: ")


def test_a_table_gives_back_the_history():
    history = learned()[0].history_
    again = History.of(history.table(), Record._fields)
    assert list(again) == list(history)
    assert len(History.of(History().table(), Record._fields)) == 0
    some = History.of(history.table()[:, :3], ["step", "time", "value"])
    assert np.isnan(some.surrogate).all()
    np.testing.assert_array_equal(some.value, history.value)
    more = History.of(np.ones((2, 2)), ["step", "invented later"])
    assert len(more) == 2
    with pytest.raises(FileFormatError, match="do not fit their names"):
        History.of(history.table(), ["step"])


@pytest.mark.parametrize("kind", ["surrogate", "sgd"])
def test_records_say_what_happened(kind):
    learner, images, _ = runs.make(kind, shuffle=False, dtype="float64", n_epochs=1, batch_size=2)
    dictionaries = []
    learner.fit(images, callback=lambda at: dictionaries.append(at.dictionary_))
    history = learner.history_
    start = runs.make(kind, shuffle=False, dtype="float64")[0]
    start.partial_fit(images[0], callback=lambda at: True)
    for record, before, after in zip(history[1:], dictionaries, dictionaries[1:], strict=False):
        batch = images[2 * int(record.step) - 2 : 2 * int(record.step)]
        best = cd.evaluate(before, batch, 0.3, tol=1e-4)
        assert best.value * (1 - 1e-6) <= record.value <= best.value / (1 - record.gap)
        assert record.change == pytest.approx(np.linalg.norm(after - before))
        assert 0 < record.gap <= learner.coding_tol
        assert 0 < record.density < 0.5
    assert (np.diff(history.time) > 0).all()
    assert history.n_iter.min() >= 1
    if kind == "sgd":
        assert np.isnan(history.surrogate).all()
        assert (history.forgetting == 0).all()
        np.testing.assert_array_equal(history.residual, history.change)
    else:
        tau, decay = learner.tolerance
        assert (history.residual <= tau / (1 + decay * history.step)).all()
        assert np.isfinite(history.surrogate).all()


def test_the_surrogate_is_what_was_seen_at_the_dictionary_of_now():
    """After the first step: the value of the first signal's codes with the new dictionary."""
    learner, images, _ = runs.make("surrogate", shuffle=False, n_epochs=1, dtype="float64")
    learner.fit(images[:1])
    record = learner.history_[0]
    assert record.surrogate < record.value
    best = cd.evaluate(learner.dictionary_, images[:1], 0.3, tol=1e-5).value
    assert record.surrogate >= best * (1 - 1e-5), "codes are not better than the best"


def test_time_does_not_count_what_callbacks_take():
    learner, images, _ = runs.make("surrogate", n_epochs=1)
    begun, pause = time.perf_counter(), 0.05
    learner.fit(images, callback=lambda _: time.sleep(pause))
    taken = time.perf_counter() - begun
    assert 0 < learner.history_[-1].time <= taken - pause * learner.n_steps_
