"""Stopped runs go on, bit for bit, however they were stopped."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

import convdict as cd

from .conftest import CONVDICT, SMALL

LONG = ["-e", "400", "--checkpoint-steps", "40"]


def start(photos, run):
    words = ["learn", str(photos), *SMALL, *LONG, "-o", str(run)]
    return subprocess.Popen(
        [*CONVDICT, "--threads", "1", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def wait_for(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What a run that is never stopped comes to: 2400 steps."""
    from PIL import Image

    from ..oracles import runs

    folder = tmp_path_factory.mktemp("in")
    for i, s in enumerate(runs.signals((25, 18), 6, (4, 3), 0)):
        Image.fromarray(np.clip(s * 40 + 128, 0, 255).astype(np.uint8)).save(folder / f"{i}.png")
    return cd.ConvDictLearner(3, (4, 3), 0.05, random_state=7, n_epochs=400).fit(folder)


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_run_that_is_stopped_goes_on_exactly(call, photos, tmp_path, expected, kind):
    run, number = tmp_path / "run", getattr(signal, kind)
    process = start(photos, run)
    wait_for(lambda: len(list(run.glob("checkpoints/0*.npz"))) >= 2, process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    if kind == "SIGKILL":
        assert process.returncode == -9
    else:
        assert process.returncode == 128 + number
        assert f"convdict resume {run}" in err.strip().splitlines()[-1]
        told = json.loads((run / "summary.json").read_text())
        assert not told["complete"]
        assert 80 <= told["steps"] < 2400
        assert "goes on" in (run / "report.html").read_text()
    call("resume", run, "--quiet")
    np.testing.assert_array_equal(cd.Dictionary.load(run).kernels, expected.dictionary_)
    records = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    assert [r["step"] for r in records] == list(range(1, 2401))
    np.testing.assert_array_equal([r["value"] for r in records], expected.history_.value)
    assert json.loads((run / "summary.json").read_text())["complete"]
    assert len(list((run / "checkpoints").glob("*.npz"))) <= 3
    assert [path.name for path in run.glob("**/.*")] == [".convdict-run"], "no partial files"


def test_more_epochs(call, photos, tmp_path):
    call("learn", photos, *SMALL, "-o", "run", "--quiet")
    call("resume", "run", "-e", 3, "--quiet")
    learner = cd.ConvDictLearner(3, (4, 3), 0.05, random_state=7).fit(photos)
    learner.set_params(n_epochs=3).resume(photos)
    np.testing.assert_array_equal(cd.Dictionary.load(tmp_path / "run").kernels, learner.dictionary_)


def test_a_damaged_checkpoint_is_said_and_the_one_before_used(call, photos, tmp_path):
    call("learn", photos, *SMALL, "-e", 4, "-o", "run", "--checkpoint-steps", 10, "--quiet")
    expected = cd.Dictionary.load(tmp_path / "run").kernels
    newest = max((tmp_path / "run/checkpoints").iterdir())
    newest.write_bytes(newest.read_bytes()[:500])
    _, err = call("resume", "run")
    assert newest.name in err
    assert "go on at image" in err
    np.testing.assert_array_equal(cd.Dictionary.load(tmp_path / "run").kernels, expected)


def test_a_run_killed_before_its_first_checkpoint_begins_again(call, photos, tmp_path):
    call("learn", photos, *SMALL, "-o", "run", "--quiet")
    expected = cd.Dictionary.load(tmp_path / "run").kernels
    for path in (tmp_path / "run/checkpoints").iterdir():
        path.unlink()
    (tmp_path / "run/dictionary.npz").unlink()
    call("resume", "run", "--quiet")
    np.testing.assert_array_equal(cd.Dictionary.load(tmp_path / "run").kernels, expected)


def test_two_runs_do_not_share_a_folder(photos, call, tmp_path):
    run = tmp_path / "run"
    process = start(photos, run)
    wait_for(lambda: (run / "history.jsonl").exists(), process)
    _, err = call("resume", run, code=1)
    assert "is being written to by another run" in err
    process.terminate()
    process.communicate(timeout=60)


@pytest.mark.parametrize("name", ["nowhere", "photos"])
def test_what_is_no_run_is_said(call, photos, name):
    _, err = call("resume", name, code=1)
    assert "is not the folder of a run" in err
