"""The page of `restoration`, drawn from a small result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.restoration.panels import KEYS, encode
from benchmarks.restoration.settings import Settings


def test_a_page_is_drawn_from_numbers_alone(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from benchmarks.restoration import report

    page = report.render(small_result(), tmp_path).read_text(encoding="utf-8")
    for row in (
        "| noise out of monarch | 28.15 | 28.17 | 27.70 |",
        "| holes in monarch | 29.37 | 29.37 | 28.90 |",
        "Highest PSNR, of 1 case: non-local means 1.",
        "Highest PSNR, of 1 case: convdict 1.",
        "| SPORCO's example | 1 | 100 | 100 – 100 | +0.80 | +0.80 – +0.80 |",
        "| SPORCO, what was seen put back | 1 | 50 | 50 – 50 | +0.50 | +0.50 – +0.50 |",
        "| monarch | 0.1 | as given | 20.00 | 0.500 |  |  |",
        "| monarch | 0.1 | convdict | 28.50 | 0.850 | 0.6 |  |",
        "| monarch | 0.1 | non-local means | **29.00** | 0.900 | 2 |  |",
        "| monarch | 0.1 | wavelets | – | – | – | ImportError: no PyWavelets |",
        "| monarch | 50 % | convdict | **30.00** | 0.950 | 1 |  |",
        "| monarch | 50 % | biharmonics | – | – | – | over 900 s |",
    ):
        assert row in page
    assert sorted(file.name for file in tmp_path.glob("*.png")) == [
        "restoration-denoise.png",
        "restoration-inpaint.png",
    ]


def test_a_cut_picture_is_none_of_those_that_sporco_shows(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from benchmarks.restoration import report

    result = small_result()
    for stage in result["stages"].values():
        stage["settings"] |= {"side": 96, "quick": True}
        del stage["shown"]
    page = report.render(result, tmp_path).read_text(encoding="utf-8")
    assert "published" not in page
    assert "`--quick`" in page
    assert not list(tmp_path.glob("*.png"))


def row(key: str, label: str, psnr: float, ssim: float, *seconds: float) -> dict:
    found = {"key": key, "label": label, "setting": "", "psnr": psnr, "ssim": ssim}
    return found | {"seconds": list(seconds)}


def small_result() -> dict:
    machine = {"processor": "a processor", "cores_used": 2, "cores": 2, "memory_gib": 8.0}
    provenance = {
        "date": "today",
        "commit": None,
        "versions": {"python": "3.11"},
        "machine": machine | {"system": "Linux"},
    }
    texts = {key: encode(np.full((8, 8, 3), 0.5)) for key in KEYS}
    monarch = {"name": "monarch", "shape": [256, 256, 3], "range": 1.056}
    monarch |= {"cores_busy_elsewhere": 0.0}
    noisy = [
        {"key": "given", "label": "as given", "psnr": 20.0, "ssim": 0.5},
        row("ours", "convdict", 28.5, 0.85, 0.5, 0.7, 0.6),
        row("sporco", "SPORCO's example", 27.7, 0.8, 60.0),
        {"key": "wavelets", "label": "wavelets", "failed": "ImportError: no PyWavelets"},
        row("nlm", "non-local means", 29.0, 0.9, 2.0),
    ]
    damaged = [
        {"key": "given", "label": "as given", "psnr": 10.0, "ssim": 0.3},
        row("ours", "convdict", 30.0, 0.95, 1.0),
        row("sporco", "SPORCO's example", 28.9, 0.9, 50.0),
        row("sporco_kept", "SPORCO, what was seen put back", 29.5, 0.92, 50.0),
        {"key": "biharmonic", "label": "biharmonics", "setting": "", "failed": "over 900 s"},
    ]
    stages = {}
    for name, told, rows in (
        ("denoise", {"sigma": 0.1, "hidden": 0.0}, noisy),
        ("inpaint", {"sigma": 0.0, "hidden": 0.5}, damaged),
    ):
        stages[name] = {
            "settings": Settings().as_json(),
            "provenance": provenance,
            "cases": [monarch | told | {"rows": rows}],
            "shown": {"case": 0, "pictures": texts},
        }
    return {"experiment": "restoration", "stages": stages}
