"""`convdict`: the door from a shell. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from ..errors import ConvdictError
from ..version import __version__
from .demo import demo
from .display import silence
from .learn import learn, resume
from .restore import denoise, inpaint
from .use import decode, encode, evaluate, show


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
@click.option("--threads", type=click.IntRange(1), help="How many threads work at once "
              "(default: all cores).")  # fmt: skip
def convdict(threads: int | None) -> None:
    """Learn convolutional dictionaries from images and signals, and use them.

    \b
      convdict learn photos/ -o run      a dictionary from a folder of pictures
      convdict show run                  what it looks like
      convdict evaluate run others/      how well it describes other pictures
      convdict encode run image.png      an image as few numbers; decode brings it back
      convdict denoise image.png         an image without noise; inpaint fills holes
    """
    if threads is not None:
        from ..threads import set_num_threads

        set_num_threads(threads)


SHELLS = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/convdict.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print what makes a shell complete convdict's commands and options.

    \b
    Examples:
      convdict completion bash >> ~/.bashrc
      convdict completion fish > ~/.config/fish/completions/convdict.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(convdict, {}, "convdict", "_CONVDICT_COMPLETE").source())


COMMANDS = (learn, resume, show, evaluate, encode, decode, denoise, inpaint, demo, completion)
for command in COMMANDS:
    convdict.add_command(command)


def run(words: list[str] | None = None) -> int:
    """Run a command; what goes wrong is one sentence and an exit status, not a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            code: Any = convdict.main(words, prog_name="convdict", standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            silence(stream)
        code = 141
    except (ConvdictError, OSError) as error:
        print(f"convdict: {_sentence(error)}", file=sys.stderr)
        code = 1
    return int(code or 0)


def _warn(message: Warning | str, *rest: Any, **named: Any) -> None:
    print(f"convdict: {message}", file=sys.stderr)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ConvdictError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def main() -> None:
    sys.exit(run())


if __name__ == "__main__":
    main()
