"""The page of `learning`, drawn from a small result."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.learning.settings import Settings


def test_a_page_is_drawn_from_numbers_alone(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from benchmarks.learning import report

    page = report.render(small_result(), tmp_path).read_text(encoding="utf-8")
    for row in (
        "SPORCO at the paper's settings | ≥ 60 | 80 | yes |",
        "SPORCO at its fastest | ≥ 10 | 8 | no |",
        "all other methods | ≤ 80.000 | 78.000 | yes |",
        "a long batch run | ≤ 0.5 % | +1.30 % | no |",
        "40 images | ≤ 120 MB | 119 MB | yes |",
        "one update of the lags | ≤ 10 ms | 11 ms | no |",
        "one iteration of FISTA | ≤ 1 ms | 0.5 ms | yes |",
        "above that of clean images | ≤ 1 % | +0.50 %, at worst +0.50 % | yes |",
        "| time and memory flat | 2 → 2 ms, +0.0 MB | yes |",
        "| another | – | – | – | – | – | – | – | NameError: gone |",
        "learning from PNG files slower than from memory | ≤ 5 % | +4.0 % | yes |",
        "| PNG | 2 | 2.08 | +4.0 % |",
        "| surrogate, lag | whole pieces | 64² | 4 | 78.000 | 1 | 8 |",
    ):
        assert row in page
    assert sorted(file.name for file in tmp_path.glob("*.png")) == [
        "learning-sizes.png",
        "learning-steps.png",
        "learning.png",
    ]


def points(*found: tuple[float, float, float]) -> list[dict]:
    return [{"images": n, "seconds": s, "value": v, "gap": 1e-3, "step": n} for n, s, v in found]


def small_result() -> dict:
    machine = {"processor": "a processor", "cores_used": 2, "cores": 2, "memory_gib": 8.0}
    common = {
        "settings": Settings().as_json(),
        "provenance": {
            "date": "today",
            "commit": None,
            "versions": {"python": "3.11"},
            "machine": machine | {"system": "Linux"},
        },
        "photographs": "some photographs",
        "n_train": 40,
        "n_test": 20,
    }
    curves = {
        "surrogate_lag": {"label": "ours", "points": points((20, 5.0, 80.0), (40, 9.0, 78.0))},
        "surrogate_lag_passes": {"label": "more", "points": points((40, 9.0, 78.0), (80, 20, 77))},
        "sporco_paper": {"label": "paper", "points": points((20, 200, 85), (40, 400, 80))},
        "sporco_hurried_0": {"label": "fast", "points": points((20, 20, 85), (40, 40, 80))},
        "sgd_sparse": {"label": "another", "failed": "NameError: gone"},
    }
    tried = [{"setting": "10 iterations", "seconds": 9.0, "value": 82.0}]
    search = {"rows": tried, "finalists": [0], "paper": points((10, 100.0, 82.0))[0]}
    clean = {"label": "surrogate, lag", "seed": None, "value": 80.0, "seconds": 1.0}
    steps = {"step": list(range(1, 101)), "ms": [2.0] * 100, "memory_mb": [1.0] * 100}
    size = {"label": "surrogate, lag", "split": "whole pieces", "size": 64, "batch": 4}
    memory = {"label": "surrogate", "images": 40, "target": 120.0, "memory_mb": 119.0}
    return {
        "experiment": "learning",
        "stages": {
            "race": common
            | {
                "start": {"value": 114.0, "gap": 1e-3},
                "target": 80.0,
                "curves": curves,
                "search": search | {"images": 10, "threads": 1},
            },
            "batch": common
            | {
                "default": {"points": points((40, 9, 79), (80, 18, 78.5), (120, 27, 78.0))},
                "ways": [
                    {
                        "revisit": "forget",
                        "constraint": "ball",
                        "lookahead": 0.5,
                        "failed": "no",
                    }
                ],
                "references": [{"from": "there", "points": points((40, 300, 77.0)), "steps": 9}],
            },
            "memory": common | {"rows": [memory | {"seconds": 9.0, "imports_mb": 90.0}]},
            "update": common | {"rows": [{"nnz": 9, "update_ms": 11.0, "iteration_ms": 0.5}]},
            "masked": common | {"rows": [clean, clean | {"seed": 0, "value": 80.4}]},
            "steps": common | {"tiles": 9, "rows": [{"label": "surrogate, lag"} | steps]},
            "reading": common
            | {"rows": [{"label": "PNG", "files": [2.2, 2.0, 2.08], "arrays": [2.0, 2.0, 2.0]}]},
            "domains": common
            | {
                "rows": [
                    {
                        "method": "sgd",
                        "domain": "dense",
                        "ms_per_step": 9.0,
                        "points": points((2, 9.0, 99.0), (4, 20.0, 98.0)),
                    }
                ]
            },
            "sharpness": common
            | {"rows": [{"gap": 0.1, "points": [{"seconds": 4.0, "value": 79.5}] * 2}]},
            "sizes": common
            | {"pixels": 9, "rows": [size | {"value": 78.0, "seconds": 1.0, "steps": 8, "gap": 0}]},
        },
    }
