"""`learn`: a folder of pictures in, a folder with all there is to know out."""

import json
import os
import subprocess

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

import convdict as cd
from convdict.command.asked import DEFAULTS
from convdict.command.options import ELSEWHERE, MAIN, MORE
from convdict.command.runs import read_toml

from .conftest import CONVDICT, SMALL


def history_of(run):
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


def test_what_is_learned_is_what_the_library_learns(call, photos, tmp_path):
    call("learn", photos, *SMALL, "-o", "run", "-e", 2)
    expected = cd.ConvDictLearner(3, (4, 3), 0.05, random_state=7, n_epochs=2).fit(photos)
    d = cd.Dictionary.load(tmp_path / "run")
    np.testing.assert_array_equal(d.kernels, expected.dictionary_)
    np.testing.assert_array_equal(np.load(tmp_path / "run/dictionary.npy"), d.kernels)
    history = history_of(tmp_path / "run")
    np.testing.assert_array_equal([r["value"] for r in history], expected.history_.value)
    last = cd.load(max((tmp_path / "run/checkpoints").iterdir()))
    np.testing.assert_array_equal(last.dictionary_, expected.dictionary_)


def test_the_folder_of_a_run(call, photos, tmp_path):
    _, err = call("learn", photos, *SMALL)
    run = tmp_path / "run-1"
    assert {path.name for path in run.iterdir()} == {
        *("settings.toml", "checkpoints", "snapshots", "history.jsonl", "log.txt", "lock"),
        *(".convdict-run", "dictionary.npz", "dictionary.npy", "summary.json", "report.html"),
    }
    first = np.load(run / "snapshots/000000001.npy")
    assert first.shape == (3, 4, 3)
    assert len(list((run / "snapshots").iterdir())) == 6
    log = (run / "log.txt").read_text()
    for line in err.splitlines():
        assert line in log
    assert "learn 3 kernels of 4×3 from 6 files into run-1" in err
    assert "6.0 of 6 images" in err
    assert "gap" in err
    assert "images/s" in err
    assert "convdict show run-1" in err
    call("learn", photos, *SMALL, "--quiet")
    assert (tmp_path / "run-2/dictionary.npz").exists(), "runs do not overwrite one another"


def test_quiet_says_nothing_and_json_is_for_machines(call, photos, tmp_path):
    assert call("learn", photos, *SMALL, "--quiet", "-o", "a") == ("", "")
    out, _ = call("learn", photos, *SMALL, "--json", "-o", "b")
    told = json.loads(out)
    assert told["complete"]
    assert told["steps"] == 6
    assert told["images"] == pytest.approx(6)
    assert told["seed"] == 7
    assert told["left_out"] == {}
    assert told == json.loads((tmp_path / "b/summary.json").read_text())


def test_the_same_seed_is_the_same_run_and_none_is_told(call, photos, tmp_path):
    for name in ("a", "b"):
        call("learn", photos, *SMALL, "-o", name, "--quiet")
    a, b = (np.load(tmp_path / name / "dictionary.npy") for name in ("a", "b"))
    np.testing.assert_array_equal(a, b)
    call("learn", photos, *SMALL[:-2], "-o", "c", "--quiet")
    seed = read_toml(tmp_path / "c/settings.toml")["random_state"]
    call("learn", photos, *SMALL[:-1], seed, "-o", "d", "--quiet")
    c, d = (np.load(tmp_path / name / "dictionary.npy") for name in ("c", "d"))
    np.testing.assert_array_equal(c, d)


def test_settings_of_a_run_make_the_same_run(call, photos, tmp_path):
    """Also those that are hard to write down."""
    call(
        *("learn", photos, *SMALL, "-o", "a", "--quiet", "-e", 2, "--method", "sgd"),
        *("--step-size", "5,2", "--split", 12, "--step", "scale", "--step", "lowpass:strength=2"),
        *("--boundary", "free", "--in-order", "--repair", "--batch-size", 2),
    )
    call("learn", "--settings", "a/settings.toml", "-o", "b", "--quiet")
    a, b = (read_toml(tmp_path / name / "settings.toml") for name in ("a", "b"))
    assert a == b
    assert a["step_size"] == [5, 2]
    assert a["split"] == 12
    assert a["repair"]
    assert not a["shuffle"]
    assert a["preprocess"][1] == {"step": "lowpass", "strength": 2, "total_variation": False}
    for name in ("dictionary.npy", "snapshots/000000003.npy"):
        np.testing.assert_array_equal(*(np.load(tmp_path / run / name) for run in ("a", "b")))
    call("learn", "--settings", "a/settings.toml", "--seed", 8, "-n", 4, "-o", "c", "--quiet")
    assert read_toml(tmp_path / "c/settings.toml") == {**a, "random_state": 8, "n_kernels": 4}


def test_none_can_be_said_and_is_remembered(call, photos, tmp_path):
    call("learn", photos, *SMALL, "--split", "none", "--step", "none", "-o", "a", "--quiet")
    call("learn", "--settings", "a/settings.toml", "-o", "b", "--quiet")
    for name in ("a", "b"):
        told = read_toml(tmp_path / name / "settings.toml")
        assert told["split"] == told["preprocess"] == "none"
        assert cd.Dictionary.load(tmp_path / name).steps == ()


def test_settings_by_hand(call, photos, tmp_path):
    (tmp_path / "by-hand.toml").write_text(
        'images = "photos"\nn_kernels = 2\nkernel_size = 5\npenalty = 0.1\nsplit = [20, 10]\n'
    )
    call("learn", "--settings", "by-hand.toml", "-o", "a", "--quiet")
    assert cd.Dictionary.load(tmp_path / "a").kernels.shape == (2, 5, 5)


def test_every_setting_of_the_learner_can_be_said():
    said = [option.parameter for option in MAIN + MORE]
    assert len(said) == len(set(said))
    assert set(said) | ELSEWHERE == set(cd.ConvDictLearner().get_params())
    assert not set(said) & set(DEFAULTS)


@pytest.mark.parametrize("option", [o for o in MAIN + MORE if o.kind is bool])
def test_switches_switch_both_ways(call, photos, tmp_path, option):
    on = option.flags.split("/")[0].split(",")[0]
    off = option.flags.split("/")[1] if "/" in option.flags else f"--no-{on[2:]}"
    if option.parameter == "nonnegative_kernels":
        on = [on, "--no-zero-mean"]
    for i, (flags, value) in enumerate(((on, True), (off, False))):
        flags = flags if isinstance(flags, list) else [flags]
        call("learn", photos, *SMALL, *flags, "-o", f"run{i}", "--quiet")
        assert read_toml(tmp_path / f"run{i}/settings.toml")[option.parameter] is value


def test_colour(call, tmp_path, rng):
    (tmp_path / "c").mkdir()
    for i, image in enumerate(rng.integers(0, 256, (3, 20, 20, 3), dtype=np.uint8)):
        Image.fromarray(image).save(tmp_path / f"c/{i}.png")
    call("learn", "c", *SMALL, "--colour", "-o", "a", "--quiet")
    d = cd.Dictionary.load(tmp_path / "a")
    assert d.kernels.shape == (3, 3, 4, 3)
    assert d.channel_axis == -1
    _, err = call("learn", "c", *SMALL, "-o", "b")
    assert cd.Dictionary.load(tmp_path / "b").kernels.shape == (3, 4, 3)
    assert err.count("is in colour and was made grey") == 1
    call("learn", "--settings", "a/settings.toml", "-o", "c2", "--quiet")
    np.testing.assert_array_equal(cd.Dictionary.load(tmp_path / "c2").kernels, d.kernels)


def test_sounds_have_kernels_of_one_axis(call, tmp_path, rng):
    samples = (rng.standard_normal(3000) * 3000).astype(np.int16)
    wavfile.write(tmp_path / "a.wav", 8000, samples)
    call("learn", "a.wav", "-n", 3, "--seed", 0, "-o", "a", "--quiet")
    assert cd.Dictionary.load(tmp_path / "a").kernels.shape == (3, 128)
    call("learn", "*.wav", "-n", 3, "-k", 20, "--seed", 0, "-o", "b", "--quiet")
    assert cd.Dictionary.load(tmp_path / "b").kernels.shape == (3, 20)


def test_one_more_dictionary_from_another(call, learned, photos, tmp_path):
    call("learn", photos, *SMALL, "--init", learned, "-o", "on", "--quiet")
    first = np.load(tmp_path / "on/snapshots/000000001.npy")
    end, fresh = (np.load(learned / n) for n in ("dictionary.npy", "snapshots/000000001.npy"))
    assert np.linalg.norm(first - end) < 0.5 * np.linalg.norm(first - fresh)


def test_masks_and_validation(call, photos, tmp_path, rng):
    (tmp_path / "masks").mkdir()
    masks = rng.random((6, 25, 18)) < 0.7
    for i, mask in enumerate(masks):
        Image.fromarray(mask).save(tmp_path / f"masks/{i}.png")
    call("learn", photos, *SMALL, "--mask", "masks", "-o", "a", "--quiet")
    expected = cd.ConvDictLearner(3, (4, 3), 0.05, random_state=7).fit(photos, tmp_path / "masks")
    np.testing.assert_array_equal(cd.Dictionary.load(tmp_path / "a").kernels, expected.dictionary_)
    call(
        *("learn", photos, *SMALL, "--validation", photos, "--validation-interval", 2),
        *("--patience", 1, "-e", 50, "-o", "b", "--quiet"),
    )
    told = json.loads((tmp_path / "b/summary.json").read_text())
    assert told["steps"] < 300


def test_a_bad_file_is_named_once_and_counted(call, photos, tmp_path):
    (photos / "bad.png").write_text("no picture")
    out, err = call("learn", photos, *SMALL, "-o", "a", "-e", 3, "--json")
    assert "bad.png cannot be read" in err
    assert err.count("left out: bad.png") == 1
    assert "1 left out: " in err
    assert [os.path.basename(name) for name in json.loads(out)["left_out"]] == ["bad.png"]
    (photos / "worse.png").write_text("no picture")
    _, err = call("learn", photos, *SMALL, "-o", "b", code=1)
    assert "2 of 8 signals are of no use, more than the 10 %" in err
    call("learn", photos, *SMALL, "-o", "c", "--max-bad", 0.5, "--quiet")


BAD = {
    "empty folder": ("holds no file that can be read", lambda p: p.mkdir()),
    "no images": ("holds no file that can be read", lambda p: (p.mkdir(), (p / "a.txt").touch())),
    "truncated": ("cannot be read", lambda p: (p.mkdir(), (p / "a.jpg").write_bytes(_half()))),
    "one pixel": ("", lambda p: (p.mkdir(), Image.new("L", (1, 1)).save(p / "a.png"))),
    "nowhere": ("there is no file or folder", lambda p: None),
}  # fmt: skip


def _half():
    import io

    file = io.BytesIO()
    Image.effect_noise((99, 99), 60).save(file, "JPEG")
    return file.getvalue()[:2000]


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_sentence_and_an_exit_status(call, tmp_path, name):
    message, make = BAD[name]
    make(tmp_path / "in")
    _, err = call("learn", "in", *SMALL, "-o", "run", code=1)
    last = err.strip().splitlines()[-1]
    assert last.startswith("convdict: ")
    assert message in last


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give images to learn from"),
        (["photos", "-n", "many"], "many"),
        (["photos", "-k", "4by3"], "is not a size"),
        (["photos", "--penalty", "much"], "give a number or auto"),
        (["photos", "--step", "lowpass:strong"], "give name:setting=value"),
        (["photos", "--nonsense"], "nonsense"),
    ],
)
def test_wrong_words_are_told_how(call, photos, words, message):
    _, err = call("learn", *words, code=2)
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", 0], "n_kernels"),
        (["-k", "40x40"], "fit"),
        (["--step", "blur"], "has the step 'blur'"),
        (["--penalty", -1], "penalty"),
        (["--settings", "nowhere.toml"], "nowhere.toml"),
        (["--settings", "bad.toml"], "cannot be read as TOML"),
        (["--settings", "unknown.toml"], "there is no setting colour_of_sky"),
        (["--init", "nowhere.npz"], "nowhere.npz"),
        (["-o", "photos"], "photos is there already"),
        (["-o", "file/run"], "cannot be written to"),
    ],
)
def test_wrong_settings_are_a_sentence(call, photos, tmp_path, words, message):
    (tmp_path / "bad.toml").write_text("n_kernels =")
    (tmp_path / "unknown.toml").write_text("colour_of_sky = 3")
    (tmp_path / "file").touch()
    _, err = call("learn", photos, *SMALL, *words, code=1)
    assert message in err.strip().splitlines()[-1]


def test_a_full_disk_is_found_before(call, photos, monkeypatch):
    import shutil

    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    _, err = call("learn", photos, *SMALL, "-o", "run", code=1)
    assert "is on a disk with 1 MB left" in err


def test_a_disk_that_fills_up_loses_only_the_last_interval(call, photos, monkeypatch, tmp_path):
    from convdict.learning.learner import ConvDictLearner

    save = ConvDictLearner.save

    def fill(learner, path):
        if learner.n_steps_ > 4:
            raise OSError(28, "No space left on device", str(path))
        save(learner, path)

    monkeypatch.setattr(ConvDictLearner, "save", fill)
    _, err = call("learn", photos, *SMALL, "-o", "run", "--checkpoint-steps", 2, code=1)
    assert "No space left on device" in err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert sorted(p.name for p in (tmp_path / "run/checkpoints").iterdir()) == [
        "000000002.npz",
        "000000004.npz",
    ]
    call("resume", tmp_path / "run", "--quiet")
    expected = cd.ConvDictLearner(3, (4, 3), 0.05, random_state=7).fit(photos)
    np.testing.assert_array_equal(
        cd.Dictionary.load(tmp_path / "run").kernels, expected.dictionary_
    )


def test_a_start_that_fails_leaves_no_folder(call, photos, tmp_path):
    """So that the mistake can be corrected under the same name."""
    _, err = call("learn", photos, *SMALL, "--init", photos / "0.png", "-o", "run", code=1)
    assert not (tmp_path / "run").exists(), err
    call("learn", photos, "-n", 3, "-k", "400", "-o", "run", code=1)
    assert not (tmp_path / "run").exists()
    call("learn", photos, *SMALL, "-o", "run", "--quiet")


def test_signals_that_are_left_out_are_named(call, photos):
    Image.fromarray(np.ones((1, 1), np.uint8)).save(photos / "pixel.png")
    _, err = call("learn", photos, *SMALL, "-o", "run")
    assert "pixel.png: kernels of shape" in err


def test_a_run_that_learned_nothing_has_failed(call, photos):
    _, err = call("learn", photos, *SMALL[:-4], "--penalty", "1e9", "-o", "run", code=1)
    assert "nothing was learned" in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('max_bad = "x"', "max_bad is 'x': give a number"),
        ("max_bad = 2", "give a number from 0 to 1"),
        ("every_steps = 0", "every_steps is 0"),
        ("images = [3]", "images is [3]: give paths as text"),
        ("n_kernel = 3", "did you mean n_kernels?"),
        (
            'preprocess = [{ step = "lowpass", strength = "abc" }]',
            "strength = 'abc': give a number",
        ),
    ],
)
def test_settings_that_make_no_sense(call, photos, tmp_path, line, said):
    (tmp_path / "s.toml").write_text(line + "\n")
    words = [] if line.startswith("images") else [photos]
    _, err = call("learn", *words, "--settings", "s.toml", "-o", "run", code=1)
    assert said in err
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_goes_away_does_not_end_the_run(photos, tmp_path):
    """As in `convdict learn … 2>&1 | head`."""
    process = subprocess.Popen(
        [*CONVDICT, "learn", str(photos), *SMALL, "-e", "30", "-o", "run"],
        cwd=tmp_path, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stderr.readline()
    process.stderr.close()
    assert process.wait(timeout=120) == 0
    assert (tmp_path / "run/dictionary.npz").exists()
    assert "180 steps" in (tmp_path / "run/log.txt").read_text()
