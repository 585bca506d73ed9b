"""A daemon keeps one account in two files; killed between the two writes, it finds another sum when it starts again.

Mended: both are in one file, which rename(2) replaces.
"""

import os
import time

MENDED, SUM = os.environ.get("MENDED"), 1000


def read() -> tuple[int, int]:
    try:
        if MENDED:
            with open("/tmp/both") as file:
                one, other = file.read().split()
        else:
            with open("/tmp/one") as file, open("/tmp/other") as second:
                one, other = file.read(), second.read()
    except FileNotFoundError:
        return SUM, 0
    return int(one), int(other)


def write(one: int, other: int) -> None:
    if MENDED:
        with open("/tmp/new", "w") as file:
            file.write(f"{one} {other}")
        os.rename("/tmp/new", "/tmp/both")
        time.sleep(0.1)
        return
    for name, value in (("one", one), ("other", other)):
        with open(f"/tmp/{name}.new", "w") as file:
            file.write(str(value))
        os.rename(f"/tmp/{name}.new", f"/tmp/{name}")
        time.sleep(0.05)


while True:
    one, other = read()
    if one + other != SUM:
        print(f"{one} and {other} are not {SUM}", flush=True)
        time.sleep(3600)
    write(one - 1, other + 1)
    time.sleep(0.4)
