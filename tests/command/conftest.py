"""The command line, in this process and in its own."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from PIL import Image

import convdict as cd
from convdict.command.main import run

from ..oracles import runs

SMALL = ["-n", "3", "-k", "4x3", "--penalty", "0.05", "--seed", "7"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = cd.get_num_threads()
    cd.set_num_threads(1)
    yield
    cd.set_num_threads(before)


@pytest.fixture
def call(capfd, monkeypatch, tmp_path):
    """`convdict WORDS…` in a folder of its own: what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            status = run([str(word) for word in words])
        out, err = capfd.readouterr()
        assert status == code, out + err
        assert "Traceback" not in err
        return out, err

    return call


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for i, s in enumerate(runs.signals((25, 18), 6, (4, 3), 0)):
        Image.fromarray(np.clip(s * 40 + 128, 0, 255).astype(np.uint8)).save(folder / f"{i}.png")
    return folder


@pytest.fixture
def learned(call, photos):
    """A run's folder."""
    call("learn", photos, *SMALL, "-o", "learned", "--quiet")
    return photos.parent / "learned"


CONVDICT = [sys.executable, "-m", "convdict"]
