"""The command line: run an experiment, or draw a result again."""

from __future__ import annotations

import argparse
from pathlib import Path

from .coding import CODING
from .results import read
from .settings import QUICK, Settings

EXPERIMENTS = {CODING.name: CODING}


def main(words: list[str] | None = None) -> None:
    told = _parser().parse_args(words)
    if told.command == "report":
        result = read(told.result)
        EXPERIMENTS[result["experiment"]].render(result, told.out or told.result.parent)
        return
    chosen = dict(QUICK) if told.quick else {}
    for name in ("photos", "dictionary", "out", "n_images", "repeats", "rival_repeats", "cores"):
        if getattr(told, name) is not None:
            chosen[name] = getattr(told, name)
    CODING.run(Settings(**chosen), told.only)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    default = Settings()

    run = commands.add_parser(
        "coding",
        help="convolutional sparse coding of one image: convdict, SPORCO, dense FISTA",
        description="Writes coding.json as it goes, then coding.md and figures beside it.",
    )
    run.add_argument("--photos", type=Path, metavar="FOLDER", help="photographs to code "
                     "(default: images that scikit-image brings)")  # fmt: skip
    run.add_argument("--images", type=int, dest="n_images", metavar="N",
                     help=f"how many of them (default {default.n_images})")  # fmt: skip
    run.add_argument("--dictionary", type=Path, metavar="FILE.npy", help="(kernels, rows, "
                     "columns) (default: SPORCO's 64 kernels of 12×12)")  # fmt: skip
    run.add_argument("--repeats", type=int, help="timed runs of convdict; the median counts "
                     f"(default {default.repeats})")  # fmt: skip
    run.add_argument("--rival-repeats", type=int, help="timed runs of rivals that take seconds "
                     f"(default {default.rival_repeats})")  # fmt: skip
    run.add_argument("--cores", type=int, help=f"for everybody (default {default.cores})")
    run.add_argument("--only", choices=CODING.stages, help="one stage; others stay as they are")
    run.add_argument("--quick", action="store_true", help="small images, few settings: a minute")
    run.add_argument("--out", type=Path, help=f"folder to write to (default {default.out})")

    draw = commands.add_parser("report", help="draw a result again, without running anything")
    draw.add_argument("result", type=Path, metavar="RESULT.json")
    draw.add_argument("--out", type=Path, help="folder to write to (default: beside the result)")
    return parser


if __name__ == "__main__":
    main()
