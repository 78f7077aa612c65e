"""What a learner can be told on the command line, as data: the options of `learn`."""

# mypy: disable-error-code="type-arg"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click


class Option(NamedTuple):
    flags: str
    parameter: str  # of ConvDictLearner
    kind: Any
    help: str


class Size(click.ParamType):
    """12, or 12x12, or 8x8x8."""

    name = "SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            sizes = tuple(int(part) for part in value.lower().replace("×", "x").split("x"))
        except ValueError:
            self.fail(f"{value!r} is not a size: give 12, or 12x12", param, ctx)
        return sizes


class Number(click.ParamType):
    """A number, or a word such as auto."""

    name = "NUMBER"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str) or value in self.words:
            return value
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        words = " or ".join(("a number", *self.words))
        return self.fail(f"{value!r}: give {words}", param, ctx)


class Pair(click.ParamType):
    """Two numbers with a comma between, or one."""

    name = "A,B"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            numbers = tuple(float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r}: give numbers such as 10,5", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


CHOICE = click.Choice
MAIN = (
    Option("-n,--kernels", "n_kernels", int, "How many kernels to learn."),
    Option(
        "-k,--size", "kernel_size", Size(), "Their size: 12 or 12x12 for images, 100 for sound."
    ),
    Option("-l,--penalty", "penalty", Number("auto"), "λ: larger means sparser codes."),
    Option("-e,--epochs", "n_epochs", int, "How many times to go through the data."),
    Option("--seed", "random_state", int, "The same seed gives the same dictionary."),
)
MORE = (
    Option("--method", "method", CHOICE(["surrogate", "sgd"]), "Second or first order."),
    Option("--domain", "domain", CHOICE(["lag", "frequency", "sparse", "dense"]),
           "How statistics or gradients are computed."),
    Option("--forgetting", "forgetting", float, "p: how fast the surrogate forgets."),
    Option("--lookahead", "lookahead", float, "ω: how far ahead of the surrogate to code."),
    Option("--rule", "rule", CHOICE(["fista", "coordinates"]), "Of the surrogate's update."),
    Option("--step-size", "step_size", Pair(), "Of sgd: a,b for a / (b + t), or a number."),
    Option("--tolerance", "tolerance", Pair(), "Of the surrogate's update: τ0,α."),
    Option("--split", "split", Number("auto", "none"), "Side of the tiles images are cut into."),
    Option("--sampling", "sampling", CHOICE(["tiles", "regions"]), "Tiles, or random regions."),
    Option("--window", "window", Number("auto"), "Images whose tiles are mixed."),
    Option("--boundary", "boundary", CHOICE(["circular", "free"]), "Of every signal."),
    Option("--nonnegative", "nonnegative", bool, "Codes that are not negative."),
    Option("--constraint", "constraint", CHOICE(["sphere", "ball"]), "Norm 1, or at most 1."),
    Option("--zero-mean", "zero_mean", bool, "Kernels of mean zero."),
    Option("--nonnegative-kernels", "nonnegative_kernels", bool, "Kernels that are not negative."),
    Option("--batch-size", "batch_size", int, "Signals coded with one dictionary."),
    Option("--shuffle/--in-order", "shuffle", bool, "Whether each epoch has an order of its own."),
    Option("--revisit", "revisit", CHOICE(["replace", "forget"]),
           "What becomes of a signal's contribution when it comes again."),
    Option("--codes-memory", "codes_memory", float, "Bytes for codes kept between epochs."),
    Option("--coding-tol", "coding_tol", float, "Duality gap of codes while learning."),
    Option("--solver", "solver", CHOICE(["working_set", "admm", "fista"]), "For the codes."),
    Option("--repair", "repair", bool, "Seed useless kernels anew."),
    Option("--validation-interval", "validation_interval", int, "Images between two looks."),
    Option("--patience", "patience", int, "Looks without improvement before it stops."),
    Option("--dtype", "dtype", CHOICE(["float32", "float64"]), "Precision."),
    Option("--device", "device", CHOICE(["cpu"]), "Where to compute."),
)  # fmt: skip
ELSEWHERE = {"init", "channel_axis", "preprocess"}  # --init, --colour and --step say these


def learner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every setting of the learner as an option that is None unless it is given."""
    for option in reversed(MAIN + MORE):
        flags = option.flags.split(",")
        told: dict[str, Any] = {"default": None, "help": option.help}
        if option.kind is bool:
            flags = flags if "/" in option.flags else [f"{flags[0]}/--no-{flags[0][2:]}"]
        else:
            told["type"] = option.kind
        command = click.option(*flags, option.parameter, **told)(command)
    return command
