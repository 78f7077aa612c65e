"""Fixtures and the slow, obvious twins that everything is compared with."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2018)
