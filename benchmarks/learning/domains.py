"""Stage `domains`: both methods in every domain, one pass at most, each for so many seconds.

All domains of a method give the same dictionaries; what they differ in is the time they take.
Signals are tiles of a quarter of the images' side, in the order given, in all of them alike.
"""

from __future__ import annotations

from ..results import Results
from ..timing import say
from .bench import attempt, lay_out, warm_up
from .course import Course, judged
from .settings import Settings

DOMAINS = {
    "surrogate": ("lag", "frequency", "sparse", "dense"),
    "sgd": ("sparse", "frequency", "dense"),
}


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    stage["rows"] = []
    side = settings.size // 4
    for method, domains in DOMAINS.items():
        for domain in domains:
            told = {"method": method, "domain": domain, "split": side, "shuffle": False}
            warm_up(bench, **told)
            course = attempt(bench.ours(**told), settings.slow_budget / 2)
            row: dict = {"method": method, "domain": domain}
            if isinstance(course, Course):
                per_image = 16.0
                steps = sorted({min(len(course), 16 * 2), len(course)})
                row["points"] = judged(course, steps, per_image, bench.examiner)
                row["ms_per_step"] = 1e3 * course.seconds[-1] / len(course)
            else:
                row["failed"] = course
            stage["rows"].append(row)
            results.save()
            say(f"domains: {row}")
