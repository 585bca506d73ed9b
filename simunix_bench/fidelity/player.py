"""Execute the commands of a script at their moments. The program is used both in real time and inside of an emulated
cluster.

    python player.py SCRIPT OUTPUT

SCRIPT is a JSON list of actions:
    "at"      seconds after the origin, which is the first whole second of the clock that lies ahead
    "name"    `{name}` in the words of later actions becomes the first word that this one has printed: the number of its job
    "argv"    the command; in copies `{}` becomes the number of the copy, from 1 on, folded into 1 to 100, and `{left}` how many
              copies are left, this one included, in six digits
    "copies"  how often the command is given; 1 unless told otherwise
    "width"   how many copies run at a time

Actions are given in their order, each as soon as the one before it has ended and its moment has come. OUTPUT is a JSON object
with "origin" and "actions". Each action has its name, when it "began" after the origin, how long it "took", the "codes" of its
copies that are not 0, and how long "each" copy took. A single command has what it has "printed" and "complained" as well.
"spent" is the CPU time, in seconds, of all processes of this host before and after the action: a loaded computer makes programs
wait for a core, which shows in how long they take, not in what they compute.

Only the standard library is used: the program runs as a file of its own.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from typing import Any

FOLD = 100


def play(actions: list[dict[str, Any]]) -> dict[str, Any]:
    """Execute all commands; return the content of the output file."""
    origin = math.floor(time.time()) + 1
    known: dict[str, str] = {}
    done = []
    for action in actions:
        time.sleep(max(0.0, origin + action["at"] - time.time()))
        before_s, begin = spent_s(), time.time()
        argv = [with_names(word, known) for word in action["argv"]]
        found = single(argv) if action.get("copies", 1) == 1 else many(argv, action["copies"], action.get("width", 1))
        known[action["name"]] = (found.get("printed", "").split() or [""])[0]
        took = time.time() - begin
        done.append({"name": action["name"], "began": begin - origin, "took": took, "spent": [before_s, spent_s()], **found})
    return {"origin": origin, "actions": done}


def spent_s() -> float:
    """Return the CPU time, in seconds, of all processes in this PID namespace, and of those for which they have waited."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
            except OSError:
                continue  # the process has ended
    return ticks / os.sysconf("SC_CLK_TCK")


def with_names(word: str, known: dict[str, str]) -> str:
    """Replace names in a word by the numbers of jobs."""
    for name, number in known.items():
        word = word.replace("{" + name + "}", number)
    return word


def of_copy(word: str, number: int, copies: int) -> str:
    """Replace `{}` and `{left}` in a word by the numbers of a copy."""
    return word.replace("{}", str((number - 1) % FOLD + 1)).replace("{left}", f"{copies - number + 1:06}")


def single(argv: list[str]) -> dict[str, Any]:
    """Execute one command, and return what it printed."""
    begin = time.time()
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    codes = [ended.returncode] if ended.returncode else []
    return {"codes": codes, "each": [time.time() - begin], "printed": ended.stdout, "complained": ended.stderr}


def many(argv: list[str], copies: int, width: int) -> dict[str, Any]:
    """Execute a command `copies` times, `width` at a time; the output of the copies is dropped."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    running: dict[int, float] = {}
    codes, each = [], []
    for number in range(1, copies + width + 1):
        if number <= copies:
            words = [of_copy(word, number, copies) for word in argv]
            running[os.posix_spawnp(words[0], words, os.environ, file_actions=quiet)] = time.time()
        if running and (len(running) == width or number > copies):
            process, status = os.wait()
            each.append(time.time() - running.pop(process))
            codes += [os.waitstatus_to_exitcode(status)] if status else []
    return {"codes": codes, "each": each}


if __name__ == "__main__":
    with open(sys.argv[1]) as script:
        given = json.load(script)
    played = play(given)
    with open(sys.argv[2], "w") as output:
        json.dump(played, output)
