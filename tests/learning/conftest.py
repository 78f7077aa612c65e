"""Images are small here: waking threads would take longer than the work."""

from __future__ import annotations

import pytest

import convdict as cd


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = cd.get_num_threads()
    cd.set_num_threads(1)
    yield
    cd.set_num_threads(before)
