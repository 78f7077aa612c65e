"""Stage `sharpness`: how accurate codes have to be while learning, in one pass and in several.

If codes that are sharper from the beginning do not lead to a better dictionary, neither do codes
that become sharper as the dictionary settles.
"""

from __future__ import annotations

from ..results import Results
from ..timing import say
from .bench import Bench, attempt, lay_out, warm_up
from .course import Course, nearest_steps
from .settings import Settings


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    warm_up(bench)
    stage["rows"] = []
    for gap in settings.coding_gaps:
        row = {"gap": gap} | measured(gap, bench, settings)
        stage["rows"].append(row)
        results.save()
        say(f"sharpness: {row}")


def measured(gap: float, bench: Bench, settings: Settings) -> dict:
    """Seconds and values after the first pass and after the last, of a run over all passes."""
    course = attempt(bench.ours(coding_tol=gap, n_epochs=settings.passes))
    if not isinstance(course, Course):
        return {"failed": course}
    per_image = len(course) / (settings.passes * len(bench.train))
    ends = [len(bench.train), settings.passes * len(bench.train)]
    found = []
    for step in nearest_steps(len(course), per_image, ends):
        mark = bench.examiner(course.dictionaries[step - 1])
        found.append({"seconds": course.seconds[step - 1], "value": mark.value})
    return {"points": found}
