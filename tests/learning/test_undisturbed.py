"""A step is made or not made, whatever happens in it."""

from __future__ import annotations

import os
import signal
import threading
import time
from _thread import interrupt_main
from functools import partial

import numpy as np
import pytest

import convdict as cd
from convdict.errors import InputError
from convdict.learning import second_order
from convdict.threads import undisturbed

IMAGES = np.random.default_rng(5).standard_normal((8, 20, 20))


def learner(**settings):
    defaults = {"n_kernels": 3, "kernel_size": (4, 4), "penalty": 0.5, "random_state": 0}
    return cd.ConvDictLearner(**defaults | settings)


def test_work_goes_on_to_its_end_before_an_interruption_is_heard():
    done = []

    def work():
        interrupt_main()
        time.sleep(0.05)
        done.append(threading.current_thread())

    with pytest.raises(KeyboardInterrupt):
        undisturbed(work)
    assert done
    assert undisturbed(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        undisturbed(lambda: 1 / 0)


def test_a_real_signal_waits_too():
    """Signals break waits for other threads, which `interrupt_main` does not."""
    done = []

    def work():
        time.sleep(0.3)
        done.append(threading.current_thread())

    ring = threading.Timer(0.05, partial(os.kill, os.getpid(), signal.SIGINT))
    ring.start()
    with pytest.raises(KeyboardInterrupt):
        undisturbed(work)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_many_real_signals_change_nothing():
    """A fit that is interrupted anywhere, over and over, and resumed every time."""
    settings = {"n_epochs": 4, "split": 16, "batch_size": 2, "revisit": "replace"}
    whole = learner(**settings).fit(IMAGES)
    rng = np.random.default_rng(0)
    for _ in range(6):
        some, over = learner(**settings), False
        while not over:
            ring = threading.Timer(
                rng.uniform(0.001, 0.02), partial(os.kill, os.getpid(), signal.SIGINT)
            )
            try:
                ring.start()
                some.resume(IMAGES)
                over = True
                ring.cancel()
                ring.join()
            except KeyboardInterrupt:
                ring.join()
        assert some.n_images_ == pytest.approx(whole.n_images_)
        np.testing.assert_array_equal(some.dictionary_, whole.dictionary_)


@pytest.mark.parametrize("settings", [{}, {"method": "sgd"}, {"n_epochs": 2}])
def test_an_interrupted_fit_goes_on_as_if_it_had_not_been(settings, monkeypatch):
    whole = learner(**settings).fit(IMAGES)
    stopped = learner(**settings)
    steps = iter(range(100))

    def disturb(update):
        def wrapped(*arguments, **named):
            if next(steps) == 3:
                interrupt_main()
                time.sleep(0.02)
            return update(*arguments, **named)

        return wrapped

    run = "convdict.learning.run.Run._learn"
    from convdict.learning.run import Run

    monkeypatch.setattr(run, disturb(Run._learn))
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(IMAGES)
    assert stopped.n_steps_ == 4
    stopped.resume(IMAGES)
    np.testing.assert_array_equal(stopped.dictionary_, whole.dictionary_)
    assert stopped.n_steps_ == whole.n_steps_


@pytest.mark.parametrize("factor", [1e16, 1e19, 1e25])
@pytest.mark.parametrize("method", ["surrogate", "sgd"])
def test_signals_too_large_for_floating_point_leave_no_trace(method, factor):
    clean = learner(method=method, shuffle=False).partial_fit(IMAGES[:3])
    spoiled = learner(method=method, shuffle=False).partial_fit(IMAGES[:3])
    with pytest.raises(InputError, match="choose units in which they are moderate"):
        spoiled.partial_fit([IMAGES[3] * factor])
    clean.partial_fit(IMAGES[4:])
    spoiled.partial_fit(IMAGES[4:])
    np.testing.assert_array_equal(spoiled.dictionary_, clean.dictionary_)


def test_signals_on_another_grid_leave_no_trace_in_the_frequency_domain():
    one = learner(domain="frequency").partial_fit(IMAGES[:3])
    before = one._run.algorithm.statistics.total
    with pytest.raises(InputError, match="signals of one size"):
        one.partial_fit([IMAGES[3][:18]])
    assert one._run.algorithm.statistics.total == before


@pytest.mark.parametrize("batch_size", [1, 4, 8])
def test_images_before_a_stream_breaks_are_learned(batch_size):
    def broken():
        yield from IMAGES[:6]
        raise OSError("the disk is gone")

    one = learner(batch_size=batch_size)
    with pytest.raises(OSError, match="the disk is gone"):
        one.partial_fit(broken())
    assert one.n_images_ == 6
    other = learner(batch_size=batch_size).partial_fit(IMAGES[:6])
    np.testing.assert_array_equal(one.dictionary_, other.dictionary_)


@pytest.mark.parametrize("domain", ["lag", "frequency", "sparse"])
def test_an_update_that_fails_is_not_made(domain, monkeypatch):
    """Its error is raised, and a second try learns the image once."""
    told = {"domain": domain, "dtype": "float64", "shuffle": False}
    whole = learner(**told).partial_fit(IMAGES[:4])
    some = learner(**told).partial_fit(IMAGES[:3])

    def fail(**_):
        raise ArithmeticError("no")

    with monkeypatch.context() as patch:
        patch.setattr(second_order, "minimise", fail)
        with pytest.raises(ArithmeticError, match="no"):
            some.partial_fit(IMAGES[3:4])
    assert some.n_steps_ == 3
    some.partial_fit(IMAGES[3:4])
    np.testing.assert_allclose(some.dictionary_, whole.dictionary_, atol=1e-9)


def test_a_dictionary_that_is_not_finite_is_not_taken(monkeypatch):
    some = learner().partial_fit(IMAGES[:2])
    before = some.dictionary_
    minimise = second_order.minimise

    def spoil(**told):
        found = minimise(**told)
        return found._replace(d=found.d * np.float32(np.nan))

    with monkeypatch.context() as patch:
        patch.setattr(second_order, "minimise", spoil)
        with pytest.raises(InputError, match="no longer be finite"):
            some.partial_fit(IMAGES[2:3])
    np.testing.assert_array_equal(some.dictionary_, before)


@pytest.mark.parametrize("penalty", ["auto", 1e-24])
@pytest.mark.parametrize("domain", ["lag", "frequency", "sparse"])
def test_signals_too_small_for_floating_point_are_refused(domain, penalty):
    with pytest.raises(InputError, match="choose units in which they are moderate"):
        learner(domain=domain, penalty=penalty).fit(IMAGES * 1e-23)


def test_numpy_says_true_as_well():
    some = learner(shuffle=False)
    some.partial_fit(IMAGES, callback=lambda at: at.history_.value.mean() > 0)
    assert some.n_steps_ == 1
    some = learner(shuffle=False)
    some.partial_fit(IMAGES, callback=lambda at: at.n_steps_)  # a number says nothing
    assert some.n_steps_ == len(IMAGES)
