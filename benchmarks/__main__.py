"""The command line: run an experiment, or draw a result again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import settings as coding_settings
from .coding import CODING
from .experiment import Experiment
from .learning import settings as learning_settings
from .learning.experiment import LEARNING
from .paper import settings as paper_settings
from .paper.experiment import PAPER
from .restoration import settings as restoration_settings
from .restoration.experiment import RESTORATION
from .results import read

EXPERIMENTS = {
    CODING.name: (CODING, coding_settings),
    LEARNING.name: (LEARNING, learning_settings),
    RESTORATION.name: (RESTORATION, restoration_settings),
    PAPER.name: (PAPER, paper_settings),
}


def main(words: list[str] | None = None) -> None:
    told = vars(_parser().parse_args(words))
    command = told.pop("command")
    if command == "report":
        result = read(told["result"])
        experiment, _ = EXPERIMENTS[result["experiment"]]
        experiment.render(result, told["out"] or told["result"].parent)
        return
    experiment, settings = EXPERIMENTS[command]
    only, quick = told.pop("only"), told.pop("quick")
    chosen = dict(settings.QUICK) if quick else {}
    chosen |= {name: value for name, value in told.items() if value is not None}
    experiment.run(settings.Settings(**chosen), None if only == "all" else only)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_coding(commands)
    _add_learning(commands)
    _add_restoration(commands)
    _add_paper(commands)

    draw = commands.add_parser("report", help="draw a result again, without running anything")
    draw.add_argument("result", type=Path, metavar="RESULT.json")
    draw.add_argument("--out", type=Path, help="folder to write to (default: beside the result)")
    return parser


def _add_coding(commands: Any) -> None:
    default = coding_settings.Settings()
    run = commands.add_parser(
        CODING.name,
        help="convolutional sparse coding of one image: convdict, SPORCO, dense FISTA",
        description="Writes coding.json as it goes, then coding.md and figures beside it.",
    )
    run.add_argument("--photos", type=Path, metavar="FOLDER", help="photographs to code "
                     "(default: images that scikit-image brings)")  # fmt: skip
    run.add_argument("--images", type=int, dest="n_images", metavar="N",
                     help=f"how many of them (default {default.n_images})")  # fmt: skip
    run.add_argument("--dictionary", type=Path, metavar="FILE.npy", help="(kernels, rows, "
                     "columns) (default: SPORCO's 64 kernels of 12×12)")  # fmt: skip
    run.add_argument("--rival-repeats", type=int, help="timed runs of rivals that take seconds "
                     f"(default {default.rival_repeats})")  # fmt: skip
    _add_common(run, CODING, default)


def _add_learning(commands: Any) -> None:
    run = commands.add_parser(
        LEARNING.name,
        help="learning a dictionary from photographs: convdict, SPORCO, scikit-learn",
        description="Writes learning.json as it goes, then learning.md and figures beside it.",
    )
    run.add_argument("--photos", type=Path, metavar="FOLDER", help="with subfolders train and "
                     "test, or photographs of which two thirds are learned from "
                     "(default: images that scikit-image brings)")  # fmt: skip
    _add_common(run, LEARNING, learning_settings.Settings())


def _add_restoration(commands: Any) -> None:
    run = commands.add_parser(
        RESTORATION.name,
        help="noise out, holes filled: convdict, SPORCO's examples, scikit-image",
        description="Writes restoration.json as it goes, then restoration.md and two figures.",
    )
    _add_common(run, RESTORATION, restoration_settings.Settings())


def _add_paper(commands: Any) -> None:
    run = commands.add_parser(
        PAPER.name,
        help="the results of the paper, each beside the paper's own figures",
        description="Writes paper.json as it goes, then paper.md and figures. A run that was "
        "stopped goes on with what is missing.",
    )
    run.add_argument("only", choices=[*PAPER.stages, "all"], metavar="RESULT",
                     help=f"{', '.join(PAPER.stages)}, or all")  # fmt: skip
    run.add_argument("--photos", type=Path, metavar="FOLDER", help="with subfolders train, test, "
                     "large_train and large_test, or photographs of which two thirds are learned "
                     "from (default: images that scikit-image brings)")  # fmt: skip
    run.add_argument("--budget", type=float, help="seconds for each slow run (default "
                     f"{paper_settings.Settings().budget:g})")  # fmt: skip
    _add_limits(run, paper_settings.Settings())


def _add_common(run: argparse.ArgumentParser, experiment: Experiment, default: Any) -> None:
    run.add_argument("--only", choices=experiment.stages, help="one stage; others stay as they are")
    _add_limits(run, default)


def _add_limits(run: argparse.ArgumentParser, default: Any) -> None:
    run.add_argument("--repeats", type=int, help="timed runs of convdict; the median counts "
                     f"(default {default.repeats})")  # fmt: skip
    run.add_argument("--cores", type=int, help=f"for everybody (default {default.cores})")
    run.add_argument("--quick", action="store_true", help="small images, few settings: a minute")
    run.add_argument("--out", type=Path, help=f"folder to write to (default {default.out})")


if __name__ == "__main__":
    main()
