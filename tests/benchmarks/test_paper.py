"""The paper's results: a small run of each kind, verdicts that follow, and no run done twice."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from benchmarks.paper import claims, curves, noisy, report, runs
from benchmarks.paper.experiment import STAGES
from benchmarks.paper.settings import QUICK, Settings
from benchmarks.results import Results

pytestmark = pytest.mark.filterwarnings("ignore:.*smaller than twice", "ignore:every code was zero")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for name in ("train/a", "train/b", "test/c"):
        image = gaussian_filter(rng.random((40, 40)), 1) > 0.5
        (folder / name).parent.mkdir(exist_ok=True)
        Image.fromarray((200 * image).astype(np.uint8)).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def settings(tmp_path, photos):
    small = {"n_train": 2, "n_test": 1, "size": 32, "n_kernels": 4, "kernel": 5, "passes": 1}
    some = {"out": tmp_path, "budget": 0.5, "exponents": (0.0, 10.0), "photos": photos}
    return Settings(**QUICK | small | some)


def begin(settings, name, go_on=False):
    results = Results(settings.out / "paper.json", "paper", keep=go_on)
    made = {"date": "today", "commit": None, "machine": {}, "versions": {}}
    return results, results.begin(name, settings.as_json(), made, go_on=go_on)


def test_a_set_of_runs(settings):
    results, stage = begin(settings, "forgetting")
    STAGES["forgetting"](settings, stage, results)
    written = json.loads(results.file.read_text())["stages"]["forgetting"]
    assert list(written["curves"]) == ["p-0", "p-10"]
    for curve in written["curves"].values():
        last = curve["points"][-1]
        assert last["images"] == pytest.approx(2)
        assert last["value"] < written["start"]
        assert runs.kernels(curve).shape == (4, 5, 5)
        assert np.abs(runs.kernels(curve)).max() == 1


def test_what_was_run_is_not_run_again(settings, monkeypatch):
    results, stage = begin(settings, "forgetting")
    done = []
    monkeypatch.setattr(
        curves, "carry_out", lambda one, *rest: done.append(one.key) or {"points": 1}
    )
    STAGES["forgetting"](replace(settings, exponents=(0.0,)), stage, results)
    again, stage = begin(settings, "forgetting", go_on=True)
    assert stage["curves"] == {
        "p-0": {"points": 1, "cores_busy_elsewhere": pytest.approx(0, abs=99)}
    }
    STAGES["forgetting"](settings, stage, again)
    assert done == ["p-0", "p-10"]
    stage["complete"] = True
    again.save()
    assert "curves" not in begin(settings, "forgetting", go_on=True)[1], (
        "what is complete begins anew"
    )


def test_other_settings_begin_anew(settings):
    results, stage = begin(settings, "tolerance")
    stage["curves"] = {}
    results.save()
    assert "curves" in begin(settings, "tolerance", go_on=True)[1]
    assert "curves" not in begin(replace(settings, penalty=0.2), "tolerance", go_on=True)[1]


@pytest.mark.parametrize("stage_runs", [curves.sgd_steps, curves.splitting, curves.main])
def test_every_learner_understands_what_it_is_told(settings, stage_runs):
    """One short run of each."""
    from benchmarks.learning.bench import lay_out

    bench = lay_out(settings, {})
    for one in stage_runs(settings):
        found = runs.carry_out(replace(one, budget=0.01), bench, 2)
        assert "failed" not in found, found
        assert np.isfinite(found["points"][-1]["value"])


def test_noisy_images(settings):
    grey = np.full((40, 50), 0.4, np.float32)
    s, seen = noisy.spoiled(grey, 0.2, np.random.default_rng(0))
    assert (~seen).mean() == pytest.approx(0.2, abs=0.05)
    assert np.abs(s[seen]).max() < 0.02 < 0.3 < np.abs(s[~seen]).min()
    told = {one.key: masked for one, masked in noisy.ways(0.1, settings)}
    assert told == {
        "plain-0.1": False,
        "sgd-0.1": True,
        "surrogate-0.1": True,
        "default-0.1": True,
        "batch-0.1": True,
    }


def curve(*values, seconds=1.0, **facts):
    points = [
        {"images": i + 1, "seconds": seconds * (i + 1), "value": v} for i, v in enumerate(values)
    ]
    return {"label": "some", "points": points, "facts": facts}


def verdicts(name, stage):
    return [claim.verdict for claim in claims.CLAIMS[name](stage)]


def test_verdicts_follow_the_numbers():
    stage = {"curves": {"p-0": curve(10, moves_at_the_end=0.1),
                        "p-10": curve(8, moves_at_the_end=0.2),
                        "p-80": curve(8.5, moves_at_the_end=0.5)}}  # fmt: skip
    assert verdicts("forgetting", stage) == ["holds"] * 3
    stage["curves"]["p-10"] = curve(9, moves_at_the_end=0.2)
    stage["curves"]["p-80"] = curve(8.5, moves_at_the_end=0.11)
    assert verdicts("forgetting", stage) == ["holds", claims.FAILS, claims.FAILS]
    stage = {"curves": {f"tau-{n}": curve(v, fista_per_step=k) for n, v, k in
                        (("1e-4", 80, 90), ("1e-2", 83, 4), ("0.01 / t", 80.1, 30))}}  # fmt: skip
    assert verdicts("tolerance", stage) == ["holds"] * 3
    stage["curves"]["tau-1e-2"] = curve(80.2, fista_per_step=4)
    assert verdicts("tolerance", stage)[1] == claims.FAILS


def test_goals_of_the_main_result():
    def stage(default):
        return {
            "settings": {"batches": [10, 40]},
            "start": 100.0,
            "curves": {
                "default": default,
                "sgd-sparse-admm": curve(90, 80, 79, seconds=50.0),
                "surrogate-sparse-admm": curve(90, 80, 79, seconds=60.0),
                "consensus-40": curve(95, 90, 80, seconds=1000.0),
                "consensus-10": curve(95, 90, 85, seconds=300.0),
            },
        }

    assert verdicts("main", stage(curve(82, 79, seconds=2.0))) == ["holds"] * 4
    slower = verdicts("main", stage(curve(82, 79, seconds=15.0)))
    assert slower == ["holds", "holds", claims.FAILS, "holds"]
    assert verdicts("main", stage(curve(90, 89)))[1] == claims.FAILS


def test_boundaries():
    def stage(small, large):
        found = {
            "circular-12": curve(small),
            "circular-64": curve(large),
            "circular-256": curve(80),
        }
        return {"settings": {"kernel": 12, "size": 256}, "curves": found}

    assert verdicts("splitting", stage(85, 80.2)) == ["holds", "holds"]
    assert verdicts("splitting", stage(80.1, 79)) == ["better", claims.FAILS]
    assert verdicts("splitting", stage(80.1, 82)) == [claims.FAILS, claims.FAILS]


def test_tables_and_memory_have_verdicts():
    row = {"coding_paper": 5.0, "label": "some"}
    rows = [row | {"domain": d, "update": u} for d, u in
            (("dense", 2.0), ("sparse", 0.01), ("frequency", 0.02))]  # fmt: skip
    assert verdicts("sgd-table", {"rows": rows}) == ["holds", "holds", "holds", claims.FAILS]
    told = {"settings": {"batches": [10, 20]}}
    found = {"consensus-10": 1000, "consensus-20": 2000, "sgd-admm": 150, "default": 80}
    rows = [{"key": key, "memory_mb": mb} for key, mb in found.items()]
    assert verdicts("memory", told | {"rows": rows}) == ["holds", "holds"]


def test_the_page(settings, tmp_path):
    stage = {
        "settings": settings.as_json(),
        "start": 99.0,
        "complete": True,
        "curves": {"p-0": curve(10, 9) | runs_kernels(), "bad": {"label": "x", "failed": "why"}},
    }
    stage["provenance"] = {
        "date": "today", "commit": "abc", "versions": {"numpy": "2"},
        "machine": {"processor": "p", "cores_used": 1, "cores": 1, "memory_gib": 1, "system": "s"},
    }  # fmt: skip
    page = report.render({"stages": {"main": stage}}, tmp_path).read_text()
    assert "| some | 2 | 2 | 9.000 |" in page
    assert "why" in page
    assert "Not yet run, or not to the end: sgd-steps" in page
    assert (tmp_path / "paper-main.png").stat().st_size > 1000
    assert (tmp_path / "paper-main-dictionaries.png").stat().st_size > 1000


def runs_kernels():
    return {"kernels": runs.stored(np.random.default_rng(0).standard_normal((5, 4, 4)))}
