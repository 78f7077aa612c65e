"""Files: a NumPy archive with a JSON header, no pickle, written all or nothing."""

from __future__ import annotations

import json
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .errors import FileFormatError

# What reading an archive raises when its bytes are not what they should be.
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, OverflowError),
    *(AttributeError, AssertionError, MemoryError, SyntaxError, struct.error),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)


def write(
    path: str | os.PathLike[str],
    about: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    compress: bool = False,
) -> None:
    """Write beside `path`, flush to the disk, then take its place in one step.

    Whatever happens in between, `path` holds either what it held before or all of this.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    save = np.savez_compressed if compress else np.savez
    header = json.dumps({**about, "arrays": list(arrays)})
    try:
        with open(partial, "xb") as file:
            save(file, allow_pickle=False, about=np.array(header), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        _sync_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a power failure too, where folders can be synced."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: str | os.PathLike[str], what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and all arrays of an archive, whatever it holds."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            about = json.loads(str(arrays.pop("about")))
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        said = str(error).partition("\n")[0]
        said = "it is no NumPy archive" if "allow_pickle" in said else said
        raise FileFormatError(f"{path} is not a file of {what}: {said}") from error
    if not isinstance(about, dict):
        raise FileFormatError(f"{path} is not a file of {what}")
    if about.pop("arrays", list(arrays)) != list(arrays):
        raise FileFormatError(f"{path} is damaged: some of its arrays are missing")
    return about, arrays


def check_format(
    about: Mapping[str, Any], path: Any, *, name: str, version: int, what: str
) -> None:
    """Refuse another kind of file, and one from a newer release."""
    if about.get("format") != name:
        raise FileFormatError(f"{path} is not a file of {what}")
    if about.get("version") != version:
        raise FileFormatError(
            f"{path} has version {about.get('version')} but this release reads version {version}: "
            "update convdict"
        )
