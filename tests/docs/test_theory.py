"""The scripts behind docs/theory.md still run, and find what the page says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from docs.theory import crops, gap, rate, variance


def test_the_change_of_a_dictionary_shrinks(tmp_path):
    result = rate.measure(steps=120, size=64, n_kernels=4, kernel=5)
    crops.write("rate", result, rate.draw(result), tmp_path)
    found = json.loads((tmp_path / "rate.json").read_text(encoding="utf-8"))["surrogate"]
    assert found["median"][-1] < found["largest"][0]


def test_slopes_are_slopes():
    t = np.arange(1, 1001)
    assert rate.summary(5 / t)["slope"] == pytest.approx(-1, abs=0.01)


def test_the_surrogate_lies_above_the_functional_value(tmp_path):
    result = gap.measure(steps=30, size=24, n_kernels=4, kernel=5, test=5)
    crops.write("gap", result, gap.draw(result), tmp_path)
    for p in gap.COLOURS:
        assert (gap.relative(result[f"p={p}"]) > 0).all()


def test_variance_follows_the_formula(tmp_path):
    result = variance.measure(n=500, means=2000, pool=50, size=24)
    crops.write("variance", result, variance.draw(result), tmp_path)
    assert result["measured"] == pytest.approx(result["formula"], rel=0.15)
