"""Files: learning goes on from them exactly, and nothing but the whole of one is read."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import convdict as cd
from convdict.errors import FileFormatError, InputError
from tests.oracles import runs

OLD_FILES = Path(__file__).parent / "data"


@pytest.mark.parametrize("kind", list(runs.KINDS))
def test_learning_goes_on_from_any_step_as_if_it_had_never_stopped(kind, tmp_path):
    def save(at):
        at.save(tmp_path / str(at.n_steps_))

    whole, images, masks = runs.make(kind)
    whole.fit(images, mask=masks, callback=save)
    further = cd.load(tmp_path / str(whole.n_steps_)).resume(images, mask=masks)
    further.partial_fit(images, mask=masks)
    for step in range(1, whole.n_steps_ + 1):
        learner = cd.load(tmp_path / str(step))
        assert learner.n_steps_ == step
        runs.check_same(learner.resume(images, mask=masks), whole)
    assert learner.score(images, mask=masks) == whole.score(images, mask=masks)
    runs.check_same(learner.partial_fit(images, mask=masks), further)


def test_validation_goes_on_too(tmp_path):
    def run(learner, go):
        return getattr(learner, go)(images, validation=images[:2], callback=save)

    def save(at):
        at.save(tmp_path / str(at.n_steps_))

    kind = {"n_epochs": 12, "validation_interval": 2, "patience": 2}
    learner, images, _ = runs.make("tiles", **kind)
    whole = run(learner, "fit")
    assert whole.n_images_ < 12 * len(images), "patience ends this run"
    for step in range(1, whole.n_steps_, 9):
        again = run(cd.load(tmp_path / str(step)), "resume")
        assert again.validation_ == whole.validation_
        runs.check_same(again, whole)


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel_size": [4, 3], "split": (np.int64(12), 12), "random_state": np.int32(7)},
        {"penalty": [0.2, 0.3, 0.4], "solver": cd.WorkingSet(max_iter=77), "dtype": np.float64},
        {"penalty": np.float32(0.25), "init": np.ones((3, 4, 3)), "solver": cd.FISTA()},
        {"penalty": np.array([0.2, 0.3, 0.4]), "solver": cd.ADMM(), "codes_memory": np.inf},
        {"random_state": np.random.default_rng(3), "step_size": 0.1, "method": "sgd"},
        {"boundary": "free", "tolerance": [0.1, 0.0], "n_epochs": np.int16(2)},
    ],
)
def test_parameters_of_every_type_come_back(changes, tmp_path):
    learner, images, _ = runs.make("surrogate", **changes)
    learner.fit(images[:2])
    learner.save(tmp_path / "learner")
    loaded = cd.load(tmp_path / "learner")
    runs.check_same(loaded, learner)
    for name, value in learner.get_params().items():
        if name == "dtype":
            assert np.dtype(loaded.dtype) == np.dtype(value)
        elif not isinstance(value, np.random.Generator):
            np.testing.assert_array_equal(loaded.get_params()[name], value)
    runs.check_same(loaded.partial_fit(images), learner.partial_fit(images))


def test_a_solver_of_the_users_own_cannot_be_saved(tmp_path):
    class Mine(cd.WorkingSet):
        pass

    learner, images, _ = runs.make("surrogate", solver=Mine())
    with pytest.raises(InputError, match="only convdict's own"):
        learner.fit(images[:1]).save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []


def test_nothing_learned_is_nothing_to_save(tmp_path):
    with pytest.raises(InputError, match="learned nothing yet"):
        runs.make("surrogate")[0].save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def learner():
    learner, images, _ = runs.make("surrogate")
    return learner.fit(images)


@pytest.fixture
def saved(learner, tmp_path):
    path = tmp_path / "learner.npz"
    learner.save(path)
    return path


def rewritten(path, change):
    with np.load(path) as archive:
        content = dict(archive)
    about = json.loads(str(content["about"]))
    change(about, content)
    np.savez(path, **{**content, "about": np.array(json.dumps(about))})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda about, _: about.update(version=2), "update convdict"),
        (lambda about, _: about.update(format="convdict-codes"), "not a file of a convdict"),
        (lambda about, _: about.pop("format"), "not a file of a convdict"),
        (lambda about, _: about.pop("run"), "damaged"),
        (lambda about, _: about["run"].update(epoch="two"), "damaged"),
        (lambda about, _: about["run"].update(consumed=-1), "damaged"),
        (lambda about, _: about["run"]["columns"].pop(), "columns"),
        (lambda about, _: about["parameters"].update(method="magic"), "damaged"),
        (lambda about, _: about["begun_with"].update(n_kernels=4), "damaged"),
        (lambda about, _: about["begun_with"].update(domain="dense"), "damaged"),
        (lambda about, _: about["parameters"].update(colour="red"), "damaged"),
        (lambda about, _: about["parameters"].update(solver={"solver": "os"}), "damaged"),
        (lambda _, a: a.pop("d"), "damaged"),
        (lambda _, a: a.pop("algorithm_hessian_lags"), "damaged"),
        (lambda _, a: a.update(d=a["d"] * np.nan), "damaged"),
        (lambda _, a: a.update(d=a["d"][:, :, :-1]), "damaged"),
        (lambda _, a: a.update(d=a["d"].astype(complex)), "damaged"),
        (lambda _, a: a.update(usage=a["usage"][:-1]), "damaged"),
        (lambda _, a: a.update(lmbda=a["lmbda"][:1]), "damaged"),
        (lambda _, a: a.update(lmbda=-a["lmbda"]), "damaged"),
        (lambda _, a: a.update(duplicates=np.array([99])), "damaged"),
        (lambda _, a: a.update(history=a["history"][0]), "columns"),
        (lambda _, a: a.update(algorithm_linear=a["algorithm_linear"][:1]), "damaged"),
        (lambda _, a: a.update(algorithm_hessian_lags=np.zeros(1)), "damaged"),
        (lambda _, a: a.update(kept_kernel=a["kept_kernel"] + 90), "damaged"),
        (lambda _, a: a.update(kept_position=-1 - a["kept_position"]), "damaged"),
        (lambda _, a: a.update(kept_value=a["kept_value"][:-3]), "damaged"),
        (lambda _, a: a.update(kept_linear=a["kept_linear"][:, :1]), "damaged"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused_with_a_sentence(change, complaint, saved):
    rewritten(saved, change)
    with pytest.raises(FileFormatError, match=complaint):
        cd.load(saved)


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_is_refused_or_harmless(seed, saved, learner):
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(seed)
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    saved.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        runs.check_same(cd.load(saved), learner)


def test_an_array_that_is_missing_is_missed(saved):
    """Even those that a learner may do without: kept codes."""
    with np.load(saved) as archive:
        content = {n: a for n, a in archive.items() if not n.startswith("kept_")}
    np.savez(saved, **content)
    with pytest.raises(FileFormatError, match="some of its arrays are missing"):
        cd.load(saved)


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bits_in_a_directory_of_arrays_are_refused_or_harmless(seed, saved, learner):
    """Two at once, at the end of the file, which no checksum covers."""
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(seed)
    for at in rng.integers(1, 2000, 2):
        content[-at] ^= 1 << rng.integers(8)
    saved.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        runs.check_same(cd.load(saved), learner)


def test_other_files_are_refused(saved, tmp_path):
    whole = saved.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:40], whole[100:]):
        saved.write_bytes(content)
        with pytest.raises(FileFormatError):
            cd.load(saved)
    np.savez(saved, d=np.array([print], object), allow_pickle=True)
    with pytest.raises(FileFormatError):
        cd.load(saved)
    with open(saved, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(FileFormatError):
        cd.load(saved)
    cd.sparse_code(np.eye(9), np.ones((1, 2, 2)), 1.0).save(saved)
    with pytest.raises(FileFormatError, match="not a file of a convdict learner"):
        cd.load(saved)
    with pytest.raises(FileNotFoundError):
        cd.load(tmp_path / "nowhere")


def test_what_cannot_be_written_leaves_the_old_file(saved, learner, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        learner.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_no_pickle_is_written(saved):
    with np.load(saved, allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "fiuU" for name in archive.files)


SAVE_FOR_EVER = """
import sys, numpy as np, convdict as cd
learner = cd.load(sys.argv[1])
image = np.random.default_rng(0).standard_normal((25, 18))
while True:
    learner.partial_fit(image).save(sys.argv[1])
    print(learner.n_steps_, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_a_process_killed_while_it_saves_leaves_a_whole_file(saved):
    rng = np.random.default_rng()  # wherever it hits
    reached = cd.load(saved).n_steps_
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(saved)], stdout=subprocess.PIPE, text=True
        )
        said = int(process.stdout.readline())
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()  # the last one may be cut
        process.stdout.close()
        process.wait()
        said = max([said, *(int(step) for step in rest[:-1])])
        learner = cd.load(saved)
        assert learner.n_steps_ >= said > reached
        assert np.isfinite(learner.dictionary_).all()
        reached = learner.n_steps_


SAVE_AND_HANG = """
import os, sys, time
import numpy as np
import convdict as cd

learner = cd.load(sys.argv[1])
learner.resume(np.load(sys.argv[2]))
real = getattr(os, sys.argv[3])

def hang(*told):
    if sys.argv[3] == "fsync":
        real(*told)
    print("here", flush=True)
    time.sleep(60)

setattr(os, sys.argv[3], hang)
learner.save(sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_killed_inside_a_save_learning_goes_on_from_the_one_before(moment, tmp_path):
    """All is written, but has not taken its place yet."""
    learner, images, _ = runs.make("surrogate")
    whole = learner.fit(images)
    some, _, _ = runs.make("surrogate")
    path = tmp_path / "learner.npz"
    some.fit(images, callback=lambda at: at.n_steps_ == 3).save(path)
    before = path.read_bytes()
    np.save(tmp_path / "images.npy", np.asarray(images))
    process = subprocess.Popen(
        [sys.executable, "-c", SAVE_AND_HANG, str(path),
         str(tmp_path / "images.npy"), moment],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "here\n"
    process.kill()
    process.communicate()
    assert path.read_bytes() == before
    assert len(list(tmp_path.glob(".learner.npz.*"))) == 1, "it was in the middle of a save"
    np.testing.assert_array_equal(cd.load(path).resume(images).dictionary_, whole.dictionary_)


def test_files_of_version_1_are_read_for_ever():
    """Written by `python -m tests.learning.data.make`, once."""
    learner = cd.load(OLD_FILES / "learner-v1.npz")
    assert learner.get_params()["kernel_size"] == (4, 3)
    assert learner.n_steps_ == 3
    expected = np.load(OLD_FILES / "learner-v1-dictionary.npy")
    np.testing.assert_array_equal(learner.dictionary_, expected)
    _, images, _ = runs.make("surrogate")
    assert learner.resume(images).n_steps_ == 2 * len(images)
