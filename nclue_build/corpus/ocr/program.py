"""The Tesseract program of this machine: where it is, what it is, which languages it knows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import UsageError
from nclue_build.core.printable import without_controls

PROGRAM: Final = "tesseract"
MIN_VERSION: Final = 4
"""The first version that recognises lines with a neural network; what came before is of no use here."""
_TIMEOUT_S: Final = 30
_MAX_SAID: Final = 200
"""Characters shown of what a program says instead of its version, such as a library that it misses."""
_VERSION: Final = re.compile(r"^tesseract v?(\d+)(\S*)", re.MULTILINE)
_FOLDER: Final = re.compile(r'^List of available languages in "(.+?)"', re.MULTILINE)
_MISSING_FILE: Final = re.compile(r"Error opening data file (.+)$", re.MULTILINE)
_NO_LANGUAGE: Final = "nclue_none"
_ORIENTATION: Final = "osd"
_NO_LANGUAGES: Final = frozenset({_ORIENTATION, "equ", "snum"})
_SUFFIX: Final = ".traineddata"


@dataclass(frozen=True, slots=True)
class Tesseract:
    """A Tesseract that can be run.

    Args:
        path: The program.
        version: As it says itself.
        languages: Codes of the languages it has data for, sorted; ``osd`` and the like are none.
        data: The folder of its language data.
        tells_orientation: Whether it has the data to see that a scan lies on its side.
    """

    path: str
    version: str
    languages: tuple[str, ...]
    data: Path
    tells_orientation: bool

    def digests(self, languages: tuple[str, ...]) -> list[str]:
        """SHA-256 of all the data that recognising text in these languages uses.

        Raises:
            UsageError: some of it cannot be read.
        """
        return [self._digest(code) for code in (*languages, *([_ORIENTATION] if self.tells_orientation else []))]

    def _digest(self, language: str) -> str:
        """SHA-256 of the data of a language.

        Raises:
            UsageError: there is none that can be read.
        """
        file = self.data / f"{language}{_SUFFIX}"
        try:
            return sha256_file(file)
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None


class NoTesseractError(Exception):
    """There is no Tesseract to be used, and why: one line with what to do."""


def find_tesseract() -> Tesseract:
    """Ask the Tesseract on ``PATH`` what it is.

    Raises:
        NoTesseractError: there is none, or not one that answers.
    """
    # A program put on PATH later is another one: what is remembered is remembered by what it depends on.
    return _ask(os.environ.get("PATH", ""), os.environ.get("TESSDATA_PREFIX", ""))


def installing(languages: tuple[str, ...] = ()) -> str:
    """How to get Tesseract, with the data of some languages beside English."""
    packages = " ".join([f"{PROGRAM}-ocr", *(f"{PROGRAM}-ocr-{_package(code)}" for code in languages if code != "eng")])
    brew = f"{PROGRAM} {PROGRAM}-lang" if set(languages) - {"eng"} else PROGRAM
    return f"install it: apt-get install {packages} (Debian, Ubuntu), brew install {brew} (macOS)"


def required_tesseract(languages: tuple[str, ...]) -> Tesseract:
    """The Tesseract on ``PATH``, with these languages.

    Raises:
        UsageError: it is not there, or a language is not; says what to install.
    """
    try:
        found = find_tesseract()
    except NoTesseractError as error:
        raise UsageError(f"extract.ocr needs Tesseract: {error}") from None
    if missing := tuple(code for code in languages if code not in found.languages):
        there = ", ".join(found.languages) or "none"
        raise UsageError(
            f"extract.ocr_languages: Tesseract has no data for {', '.join(missing)} (it has: {there}); "
            f"{installing(missing)}"
        )
    return found


@cache
def _ask(_path: str, _data: str) -> Tesseract:
    path = shutil.which(PROGRAM)
    if path is None:
        raise NoTesseractError(f"no program {PROGRAM} on PATH; {installing()}")
    said = _say(path, "--version")
    stated = _VERSION.search(said)
    if stated is None:
        instead = f", but {line!r}" if (line := without_controls(said[:_MAX_SAID])) else ""
        raise NoTesseractError(f"{path}: does not say its version{instead}; {installing()}")
    if int(stated[1]) < MIN_VERSION:
        raise NoTesseractError(
            f"{path} is version {stated[1]}{stated[2]}, and {MIN_VERSION} or newer is needed; {installing()}"
        )
    listed = _say(path, "--list-langs")
    codes = [line.strip() for line in listed.splitlines()[1:] if line.strip()]
    languages = tuple(sorted(code for code in codes if code not in _NO_LANGUAGES and " " not in code))
    return Tesseract(path, stated[1] + stated[2], languages, _data_folder(path, listed), _ORIENTATION in codes)


def _data_folder(path: str, listed: str) -> Path:
    """Where the language data lies: the list of languages says it, or, up to 4.x, the complaint about one it lacks."""
    if stated := _FOLDER.search(listed):
        return Path(stated[1])
    if complaint := _MISSING_FILE.search(_say(path, os.devnull, "stdout", "-l", _NO_LANGUAGE)):
        return Path(complaint[1].strip()).parent
    raise NoTesseractError(f"{path}: does not say where its language data lies; {installing()}")


def _say(path: str, *arguments: str) -> str:
    """Everything the program prints when asked."""
    try:
        done = subprocess.run(  # noqa: S603 - the program the user asked for
            [path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoTesseractError(f"{path}: does not answer ({error.__class__.__name__}); {installing()}") from None
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _package(code: str) -> str:
    """The end of the Debian package's name: ``chi_sim`` is in ``tesseract-ocr-chi-sim``."""
    return code.split("/", maxsplit=1)[-1].replace("_", "-").lower()
