"""What is said while learning: lines for a file, a live line for a terminal."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

from convdict.command.display import duration

from .conftest import CONVDICT, SMALL


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (59.6, "0:01:00"), (3725, "1:02:05"), (360000, "100:00:00")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_a_terminal_sees_a_live_line(photos, tmp_path):
    """Through a pseudo terminal, as a shell would show it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*CONVDICT, "learn", str(photos), *SMALL, "-e", "60", "-o", str(tmp_path / "run")],
        stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "150"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if ready:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other side has closed
                break
            if not data:
                break
            shown += data
        elif process.poll() is not None:
            break
    os.close(ours)
    assert process.wait(30) == 0
    text = shown.decode()
    assert "\x1b[" in text, "the cursor is moved"
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    for word in ("step ", "images/s", "density", "gap", "left", "value"):
        assert word in plain
    assert "360.0 of 360 images" in plain
    assert "convdict show" in plain
