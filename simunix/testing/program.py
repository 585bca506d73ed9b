"""The programs of a test: C that is compiled once and cached, Python, or a command; and the arguments that start them
on a host.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.testing.function_source import Function, script_of

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)

FLAGS = ("-O1", "-g", "-Wall", "-pthread")
PYTHON = (sys.executable, "-B")  # without bytecode files, which one run would leave for the next
COMPILERS = ("cc", "gcc")


class ProgramError(SimunixError):
    """The error that a program of a test cannot be made; the message quotes the compiler or the system."""


class CompilerMissingError(ProgramError):
    """The error that this computer has no C compiler."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that a test can start.

    `file` and `content` are put into the host's work folder; `before` are the arguments in front of the file.
    """

    name: str
    before: tuple[str, ...]
    file: str = ""
    content: bytes = b""

    def argv(self, folder: str) -> tuple[str, ...]:
        """Return the arguments that start the program; `folder` is the path at which the host sees its file."""
        return (*self.before, f"{folder}/{self.file}") if self.file else self.before


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a C or Python program, and the file that messages about the text name, whether it exists or not."""

    text: str
    path: Path

    @classmethod
    def read(cls, source: str | Path, suffix: str, folder: Path) -> Source:
        """Return the source of a program. A Path is a file in `folder`.

        A str is a file, too, if it is a single line that ends with the suffix; otherwise it is the text of the program.
        """
        if isinstance(source, str) and not (source.endswith(suffix) and "\n" not in source):
            return cls(source, Path(f"program{suffix}"))
        path = folder / source
        try:
            return cls(path.read_text(), path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file"
            raise ProgramError(f"{path}: {reason}; give a {suffix} file (relative to the test's folder) or its text") from None


class CCompiler:
    """Compiles C programs with a cache. A program is compiled again only if its preprocessed text, its flags or the
    compiler differ.
    """

    def __init__(self, cache: Path, flags: Sequence[str] = FLAGS, compiler: str | None = None) -> None:
        self.cache = cache
        self.flags = tuple(flags)
        self._compiler = compiler

    def find(self) -> str:
        """Return the path of the compiler. Raises CompilerMissingError if there is none."""
        wanted = (self._compiler,) if self._compiler else COMPILERS
        found = next(filter(None, map(shutil.which, wanted)), None)
        if found is None:
            raise CompilerMissingError(f"no C compiler here ({' or '.join(wanted)}); install gcc")
        return found

    def compile(self, source: Source, flags: Sequence[str] = ()) -> bytes:
        """Return the content of the compiled program. Raises ProgramError with the compiler's message."""
        compiler = self.find()
        flags = (*self.flags, *flags)
        text = f'# 1 "{source.path}"\n{source.text}'.encode()
        include = (f"-I{source.path.parent}",) if source.path.is_absolute() else ()
        preprocessed = self._call(compiler, ("-E", *include, *flags, "-x", "c", "-"), text, source)
        status = os.stat(compiler)
        identity = repr((os.path.realpath(compiler), status.st_size, status.st_mtime_ns, flags)).encode()
        cached = self.cache / hashlib.sha256(identity + b"\0" + preprocessed).hexdigest()
        if not cached.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            # the file is renamed when complete, since other test workers use the cache as well
            with tempfile.TemporaryDirectory(dir=self.cache) as folder:
                binary = Path(folder, "program")
                self._call(compiler, ("-x", "cpp-output", "-", "-o", str(binary), *flags), preprocessed, source)
                binary.replace(cached)
        return cached.read_bytes()

    @staticmethod
    def _call(compiler: str, arguments: Sequence[str], text: bytes, source: Source) -> bytes:
        environment = {"PATH": os.defpath, **os.environ}  # the compiler searches its assembler in PATH
        done = subprocess.run([compiler, *arguments], input=text, capture_output=True, check=False, env=environment)
        if done.returncode != 0:
            raise ProgramError(f"{source.path.name} does not compile:\n{done.stderr.decode(errors='replace').rstrip()}")
        return done.stdout


def c_program(compiler: CCompiler, source: Source, name: str, flags: Sequence[str]) -> Program:
    """Return the compiled program of a C source."""
    name = name or source.path.stem
    return Program(name, (), name, compiler.compile(source, flags))


def python_program(source: str | Path | Function, folder: Path, name: str, arguments: Sequence[object]) -> Program:
    """Return the program of a Python script, or of a call of a function, whose source is part of the program."""
    if callable(source):
        name = name or source.__name__
        text = script_of(source, arguments)
    elif arguments:
        raise ProgramError("python: only functions are called with arguments; give the arguments of a script to start()")
    else:
        found = Source.read(source, ".py", folder)
        name, text = name or found.path.stem, found.text
    try:
        compile(text, f"{name}.py", "exec")
    except SyntaxError as error:
        raise ProgramError(f"{name}.py:{error.lineno}: {error.msg}") from None
    return Program(name, PYTHON, f"{name}.py", text.encode())


def command(wanted: str | Path | Sequence[str | Path | int | float]) -> Program:
    """Return the program for any command: a text for the shell, a path, or a list of arguments."""
    if isinstance(wanted, str):
        return Program("sh", ("/bin/sh", "-c", wanted))
    argv = (wanted,) if isinstance(wanted, Path) else tuple(wanted)
    if not argv:
        raise ProgramError("expected a program, a shell command or a list of arguments, got an empty list")
    return Program(Path(str(argv[0])).name, tuple(map(str, argv)))


__all__ = ["CCompiler", "CompilerMissingError", "Program", "ProgramError", "Source", "c_program", "command", "python_program"]
