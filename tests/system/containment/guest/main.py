"""Try all ways, each in a process of its own; print a line of JSON: what each has reached, or how it was refused.

    main.py OUTSIDE [raw]     OUTSIDE: a JSON object, as ways.Outside has it

With `raw` the simulation is left first, as a program that means harm can: a new process is made, and a program run in it, by
instructions of the shim's own text, which the kernel does not trap. That program runs without the shim.
"""

from __future__ import annotations

import json
import os
import sys

import devices
import kernel
import mounts
import processes
import sockets
import ways
from raw import run_without_shim
from ways import CLONE, WAYS, Outside, Way, call, has_shim

MODULES = (devices, kernel, mounts, processes, sockets)


def attempt(function: Way, outside: Outside) -> str:
    """Try one way in a child: "reached: …", "nothing", or the name of an error."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            call(272, CLONE["mnt"])
            call(165, None, "/", None, 0x44000, None)  # nothing comes back into the namespace that this one was copied from
            found = function(outside)
            text = f"reached: {found}" if found else "nothing"
        except OSError as error:
            text = f"refused: {error.strerror}"
        except BaseException as error:
            text = f"broken: {error!r}"
        os.write(writer, text.encode()[:2000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    return text or "refused: it was killed"


def main(arguments: list[str]) -> None:
    """Try all ways."""
    if arguments[1:] == ["raw"]:
        run_without_shim([sys.executable, os.path.abspath(__file__), arguments[0]])
        return
    outside = Outside(**json.loads(arguments[0]))
    ways.is_host = outside.is_host
    results = {name: attempt(function, outside) for name, function in WAYS.items() if name not in outside.left_out}
    print(json.dumps({"results": results, "shim": has_shim()}))


if __name__ == "__main__":
    main(sys.argv[1:])
