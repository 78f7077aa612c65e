"""What is remembered of signals: weights, batches that are not full, and visits that replace."""

from __future__ import annotations

import numpy as np
import pytest

import convdict as cd
from convdict.coding.working_set import WorkingSet
from convdict.learning.coded import code_all
from convdict.learning.second_order import SecondOrder
from convdict.learning.sgd import Sgd, sparse_gradient
from convdict.learning.source import Source
from convdict.learning.stream import stream
from convdict.learning.update import PAPER_SIZE
from convdict.model.problem import Problem
from convdict.statistics.surrogate import Surrogate
from tests.oracles import runs

EXACT = {"dtype": "float64", "shuffle": False, "split": None, "revisit": "replace"}
DOMAINS = ["lag", "frequency", "sparse", "dense"]


def statistics(learner):
    return learner._run.algorithm.statistics


def fresh(learner):
    """The sum, each with weight one, of what all kept codes say."""
    found = statistics(learner)
    total = Surrogate(learner._run.d.shape, found.domain, found.linear.dtype)
    problems = {
        piece.key: learner._run.problem(piece, learner._run.d) for piece in pieces_of(learner)
    }
    total.add([(problems[k], kept.terms, 1.0) for k, kept in learner._run.kept.items()])
    return total


def pieces_of(learner):
    s = learner._run.settings
    source = Source(learner.images, None, len(s.kernel), s.channel_axis)
    return stream(source, s, seed=learner._run.seed, epoch=0, first=0, permute=False)


def check_equal(a, b, tolerance=1e-10):
    """Two sums of statistics are one."""
    one, other = a.state(), b.state()
    assert one.keys() == other.keys()
    for name in one:
        scale = np.abs(other[name]).max()
        np.testing.assert_allclose(one[name], other[name], atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize(
    ("domain", "options"),
    [
        *((domain, {}) for domain in DOMAINS),
        ("lag", {"batch_size": 3}),
        ("lag", {"split": 12}),
        ("lag", {"boundary": "free"}),
    ],
)
def test_after_every_pass_the_statistics_are_those_of_the_codes_kept(domain, options):
    learner, images, _ = runs.make("surrogate", **{**EXACT, **options}, domain=domain, n_epochs=3)
    learner.images = images
    sums = []

    def compare(at):
        if at._run.place[0] and at.n_images_ > (at._run.place[0] + 1) * len(images) - 1e-6:
            check_equal(statistics(at), fresh(at))
            sums.append(statistics(at).total)

    learner.fit(images, callback=compare)
    assert sums == pytest.approx([len(learner._run.kept)] * 2)
    assert {key[0] for key in learner._run.kept} == set(range(len(images)))


def test_codes_of_another_visit_are_where_the_next_begins():
    learner, images, _ = runs.make("surrogate", **EXACT, n_epochs=2)
    learner.fit(images)
    for key, kept in learner._run.kept.items():
        codes = cd.sparse_code(images[key[0]], learner.dictionary_, learner.penalty_).triplets()
        ours = kept.terms.codes.to_dense(3, images[0].shape)
        best = codes.to_dense(3, images[0].shape)
        assert np.corrcoef(ours.ravel(), best.ravel())[0, 1] > 0.8


@pytest.mark.parametrize("kind", ["surrogate", "sgd"])
def test_memory_for_codes_is_a_bound(kind):
    sizes, memory = [], 1 << 30
    for share in (1.0, 0.6, 0.0):
        memory = int(share * (sizes[0] if sizes else memory))
        learner, images, _ = runs.make(kind, n_epochs=3, codes_memory=memory)
        learner.fit(images)
        sizes.append(sum(kept.nbytes for kept in learner._run.kept.values()))
        assert sizes[-1] == learner._run.kept_bytes <= memory
        assert learner.n_steps_ == (12 if kind == "surrogate" else 6)
    assert sizes[0] > sizes[1] > sizes[2] == 0
    once, images, _ = runs.make(kind, n_epochs=1)
    assert once.fit(images)._run.kept == {}, "a single pass keeps nothing"


def test_forgetting_passes_over_and_over():
    """revisit="forget" never takes anything back; all is weighted (t'/t)^p."""
    learner, images, _ = runs.make("surrogate", **{**EXACT, "revisit": "forget"}, n_epochs=3)
    learner.fit(images)
    t = np.arange(1, 13)
    assert statistics(learner).total == pytest.approx(np.sum((t / 12) ** 10.0))
    np.testing.assert_allclose(learner.history_.forgetting, ((t - 1) / t) ** 10.0)


@pytest.mark.parametrize("forgetting", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("batches", [(1, 1, 1, 1, 1), (2, 2, 1), (3, 2), (5,)])
@pytest.mark.parametrize("domain", DOMAINS)
def test_every_signal_has_the_weight_of_its_samples(domain, batches, forgetting, rng):
    """Σ (t'/t)^p · what a signal says, t' being the samples seen when its batch was over."""
    sizes = [(20, 18)] * 5  # "frequency" needs one size
    if domain != "frequency":
        sizes[1:4:2] = [(26, 15), (9, 30)]
    d = rng.standard_normal((3, 1, 4, 3))
    coded = code_all(WorkingSet(), [problem(rng, d, size) for size in sizes], [None] * 5, 0.1)
    n = np.cumsum([c.size for c in coded])
    algorithm = SecondOrder(
        shape=d.shape,
        dtype=d.dtype,
        domain=domain,
        forgetting=forgetting,
        tolerance=(1e-3, 0.0),
        constraint=lambda d: d,
    )
    expected = Surrogate(d.shape, domain, d.dtype)
    for last, size in zip(np.cumsum(batches), batches, strict=True):
        batch = coded[last - size : last]
        algorithm.update(d, batch, [None] * size)
        weight = (n[last - 1] / n[-1]) ** forgetting
        expected.add([(c.problem, expected.terms(c.problem, c.codes), weight) for c in batch])
    check_equal(algorithm.statistics, expected)
    assert algorithm.seen == n[-1] / PAPER_SIZE


def problem(rng, d, size):
    return Problem(d, rng.standard_normal((1, *size)), np.full(3, 2.0))


@pytest.mark.parametrize("forgetting", [0.0, 2.5, 10.0])
def test_a_last_shorter_batch_counts_for_what_it_is(forgetting):
    learner, *_ = runs.make("surrogate", batch_size=2, forgetting=forgetting, n_epochs=1)
    learner.fit(runs.signals((25, 18), 5, (4, 3), 0))
    np.testing.assert_allclose(
        learner.history_.forgetting, [0**forgetting, 0.5**forgetting, 0.8**forgetting]
    )
    weights = np.array([2, 2, 4, 4, 5]) / 5
    assert statistics(learner).total == pytest.approx(np.sum(weights**forgetting))


def test_as_many_samples_fade_the_past_as_much_however_they_are_cut():
    """Tiles of one image, or the image: the same α in the end."""
    images = runs.signals((24, 18), 4, (4, 3), 0)
    faded = []
    for split in (None, (12, 18), (8, 9)):
        learner, *_ = runs.make("surrogate", split=split, n_epochs=1, batch_size=1)
        faded.append([])
        learner.fit(images, callback=lambda at: faded[-1].append(at.history_[-1].forgetting))
    ends = [np.prod(f[len(f) // 4 :]) for f in faded]  # since the first image
    np.testing.assert_allclose(ends, (1 / 4) ** 10, rtol=1e-9)


def test_gradient_steps_count_samples(rng):
    """η = a / (b + t), t in signals of 256²: tiles, images and batches of them take the same t."""
    d = rng.standard_normal((3, 1, 4, 3)) / 10
    problems = [problem(rng, d, (20, 18)) for _ in range(3)]
    coded = code_all(WorkingSet(), problems, [None] * 3, 0.1)
    together = Sgd(domain="sparse", step_size=(10.0, 5.0), constraint=lambda d: d)
    update = together.update(d, coded)
    assert together.seen == pytest.approx(3 * 360 / PAPER_SIZE)
    eta = 10 / (5 + together.seen)
    gradient = sum(sparse_gradient(c.problem, c.codes) for c in coded)
    np.testing.assert_allclose(update.d, d - eta * gradient, rtol=1e-12)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_kernel_can_be_forgotten_everywhere(domain):
    """As repair does: statistics are still those of the codes kept, without that kernel."""
    learner, images, _ = runs.make("surrogate", **EXACT, domain=domain, n_epochs=2)
    learner.images = images
    run = learner.fit(images)._run
    run.algorithm.forget(1, run.d)
    run.kept = {key: kept.without(1) for key, kept in run.kept.items()}
    found, expected = (s.state() for s in (statistics(learner), fresh(learner)))
    for name in found.keys() - {"sums"}:  # the value of the surrogate has no meaning until later
        atol = 1e-10 * np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], atol=atol, err_msg=name)
    assert found["energy"][1] == 0 < found["energy"][0]
