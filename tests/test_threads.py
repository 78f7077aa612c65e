"""Same input, same code, bit for bit, whoever else is working and on how many threads."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import convdict as cd
from convdict import threads
from convdict.errors import InputError


@pytest.fixture
def restored():
    before = cd.get_num_threads()
    yield
    cd.set_num_threads(before)


def problem(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((90, 70)), rng.standard_normal((10, 5, 6)), 6.0


@pytest.mark.parametrize("solver", ["working_set", "admm", "fista"])
@pytest.mark.parametrize("masked", [False, True])
def test_the_number_of_threads_changes_no_bit(solver, masked, restored):
    image, d, penalty = problem(0)
    mask = np.random.default_rng(1).random(image.shape) if masked else None
    results = []
    for n in (1, 2, 3, 7):
        cd.set_num_threads(n)
        results.append(cd.sparse_code(image, d, penalty, mask, solver=solver, tol=1e-2))
    assert all(codes == results[0] for codes in results)
    assert all(codes.objective == results[0].objective for codes in results)
    assert all(codes.gap == results[0].gap for codes in results)


@pytest.mark.parametrize("solver", ["working_set", "fista"])
def test_threads_may_code_different_images_at_once(solver):
    problems = [problem(seed) for seed in range(6)]
    alone = [cd.sparse_code(*p, solver=solver) for p in problems]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda p: cd.sparse_code(*p, solver=solver), problems * 2))
    assert together == alone * 2


def test_no_more_threads_work_than_were_allowed(restored):
    cd.set_num_threads(2)
    running, most, lock = 0, 0, threading.Lock()
    started = threading.Barrier(2)

    def work(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        started.wait(10)  # passes only when two work at once
        with lock:
            running -= 1

    callers = [threading.Thread(target=threads.parallel_map, args=(work, range(4))) for _ in "ab"]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert most == 2


def test_work_inside_the_pool_may_ask_for_more(restored):
    cd.set_num_threads(2)
    inner = lambda i: sum(threads.parallel_map(lambda j: i * j, range(5)))  # noqa: E731
    assert threads.parallel_map(inner, range(6)) == [10 * i for i in range(6)]


def test_an_error_in_a_thread_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        threads.parallel_map(lambda i: 1 // i, range(3))


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_codes_as_its_parent_does():
    args = problem(0)
    here = cd.sparse_code(*args)
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child():
        codes = cd.sparse_code(*args)
        send.send((codes == here, os.getpid()))

    process = context.Process(target=child)
    process.start()
    assert receive.poll(60), "the child hangs"
    same, pid = receive.recv()
    process.join()
    assert same
    assert pid != os.getpid()


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_bad_numbers_of_threads_are_refused(n):
    with pytest.raises(InputError, match="positive whole number"):
        cd.set_num_threads(n)


def test_the_environment_sets_the_number(monkeypatch):
    monkeypatch.setattr(threads, "_n_threads", None)
    monkeypatch.setenv("CONVDICT_NUM_THREADS", "3")
    assert cd.get_num_threads() == 3
    monkeypatch.setenv("CONVDICT_NUM_THREADS", "many")
    with pytest.raises(InputError, match="CONVDICT_NUM_THREADS is 'many'"):
        cd.get_num_threads()
