"""The judge against sums written out, and a page drawn from a small result."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from benchmarks import judge as judging
from benchmarks.judge import Problem, SparseMaps, judge, objective


@pytest.fixture
def problem() -> Problem:
    rng = np.random.default_rng(3)
    d = rng.standard_normal((3, 2, 3)).astype(np.float32)
    s = rng.standard_normal((6, 5)).astype(np.float32)
    return Problem(s, d, 0.4)


def codes_for(problem: Problem) -> np.ndarray:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((problem.n_kernels, *problem.grid))
    return (0.2 * x * (rng.random(x.shape) < 0.3)).astype(np.float32)


def written_out(problem: Problem, x: np.ndarray) -> tuple[float, float]:
    """Objective and gap by loops over every kernel, place and offset."""
    rows, columns = problem.grid
    s, d = problem.s.astype(np.float64), problem.d.astype(np.float64)
    places = list(itertools.product(*(range(n) for n in (*x.shape, *d.shape[1:]))))

    def violation(theta: np.ndarray) -> np.ndarray:
        dt_theta = np.zeros(x.shape)
        for m, i, j, a, b in places:
            dt_theta[m, i, j] += d[m, a, b] * theta[(i + a) % rows, (j + b) % columns]
        return np.abs(dt_theta).max(axis=0) / problem.lmbda

    def bound(theta: np.ndarray) -> float:
        best = max((s * theta).sum() / (theta * theta).sum(), 0.0)
        theta = theta * min(best, 1.0 / violation(theta).max())
        return 0.5 * (s * s).sum() - 0.5 * ((s - theta) ** 2).sum()

    r = s.copy()
    for m, i, j, a, b in places:
        r[(i + a) % rows, (j + b) % columns] -= d[m, a, b] * float(x[m, i, j])
    primal = 0.5 * (r * r).sum() + problem.lmbda * np.abs(x).sum(dtype=np.float64)
    worst, seen = violation(r), np.ones(r.shape)
    for _, i, j, a, b in places:
        place = (i + a) % rows, (j + b) % columns
        seen[place] = max(seen[place], worst[i, j])
    dual = max(bound(r), bound(r / seen))
    return primal, (primal - dual) / primal


def test_agrees_with_sums_written_out(problem):
    x = codes_for(problem)
    found = judge(problem, x)
    primal, gap = written_out(problem, x)
    assert found.objective == pytest.approx(primal, rel=1e-12)
    assert found.gap == pytest.approx(gap, rel=1e-10)
    assert found.nnz == np.count_nonzero(x)
    assert objective(problem, x) == pytest.approx(primal, rel=1e-12)


def test_triplets_and_blocks_change_nothing(problem, monkeypatch):
    x = codes_for(problem)
    flat = x.reshape(len(x), -1)
    kernel, position = np.nonzero(flat)
    triplets = SparseMaps(kernel, position, flat[kernel, position])
    expected = judge(problem, x)
    monkeypatch.setattr(judging, "BLOCK_BYTES", 1)  # one kernel at a time
    for codes in (x, triplets):
        found = judge(problem, codes)
        assert found.objective == pytest.approx(expected.objective, rel=1e-12)
        assert found.gap == pytest.approx(expected.gap, rel=1e-10)


def test_nothing_can_be_certified_below_the_optimum(problem):
    """The bound that a gap gives holds for the best codes anybody finds."""
    from benchmarks.rivals import dense_fista

    good = judge(problem, dense_fista.solve(problem, 2000))
    assert good.gap < 1e-5
    rough = judge(problem, codes_for(problem))
    assert rough.objective * (1.0 - rough.gap) <= good.objective * (1.0 + 1e-9)


def test_codes_of_another_shape_are_refused(problem):
    with pytest.raises(ValueError, match="codes have shape"):
        judge(problem, np.zeros((2, 6, 5), np.float32))


def test_a_page_is_drawn_from_numbers_alone(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from benchmarks import report

    page = report.render(small_result(), tmp_path).read_text(encoding="utf-8")
    assert "| ≥ 60 | 80 | 80 – 80 | 1 of 1 | yes |" in page
    assert "| ≥ 30 | 20 | 20 – 20 | 0 of 1 | no |" in page
    assert "| ≥ 5 | 10 | 10 – 10 | 1 of 1 | yes |" in page
    assert "≤ 80 MB: yes" in page
    assert "over 5 s" in page
    assert len(list(tmp_path.glob("*.png"))) == 5


def small_result() -> dict:
    run = {"setting": "tol=0.1", "objective": 9.9, "gap": 1e-3, "nnz": 5, "density": 0.01}
    seconds = {"sporco_paper": 8.0, "sporco_fast": 2.0, "ours_to_target": 0.1}
    seconds["ours_certified"] = 0.2
    warm = {"dictionary": "a step", "moved_by": 0.01, "cold_seconds": 0.2, "warm_seconds": 0.02}
    image = {
        "name": "one",
        "target": 10.0,
        "contenders": {
            key: run | {"seconds": [value], "median_seconds": value}
            for key, value in seconds.items()
        },
    }
    names = ("SPORCO, paper's settings", "SPORCO, fastest", "dense FISTA", "convdict")
    curves = {name: [[0.1, 12.0, 0.3], [1.0, 10.0, 0.01]] for name in names}
    search = {"setting": "ρ = 5, fixed", "iterations": [50], "seconds": [2.0]}
    versions = {"python": "3.11", "numexpr": None}
    machine = {"processor": "a processor", "cores_used": 2, "cores": 2, "memory_gib": 8.0}
    common = {
        "settings": {
            "size": 256, "penalty": 0.1, "dictionary": "some", "tolerances": [0.1, 0.01],
            "certificate": 1e-3, "scaling_tol": 1e-2, "fft_size_limit": 512, "quick": False,
        },
        "provenance": {
            "date": "today", "commit": None, "versions": versions,
            "machine": machine | {"system": "Linux"},
        },
        "photographs": "some photographs",
    }  # fmt: skip
    cell = {"solver": "working_set", "sweep": "pixels", "seconds": 1.0, "memory_mb": 20.0}
    cell |= {"gap": 1e-2, "density": 0.01}
    apart = {"solver": "working_set", "size": 256, "memory_mb": 79.0, "seconds": 0.3}
    return {
        "experiment": "coding",
        "stages": {
            "main": common
            | {
                "images": [image],
                "search": {"settings": [search], "fastest": 0},
                "trace": {"curves": curves, "optimum": 9.8, "callback": []},
            },
            "warm": common
            | {
                "images": [
                    {
                        "name": "one",
                        "cores_busy_elsewhere": 0.0,
                        "rows": [warm | {"cold_gap": 1e-3, "warm_gap": 1e-3}],
                    }
                ]
            },
            "memory": common | {"rows": [apart | {"gap": 1e-3, "imports_mb": 90.0}]},
            "scaling": common
            | {
                "rows": [
                    cell | {"value": 4096},
                    cell | {"value": 16384, "seconds": 4.1},
                    {"sweep": "pixels", "solver": "admm", "value": 4096, "failed": "over 5 s"},
                ]
            },
        },
    }
