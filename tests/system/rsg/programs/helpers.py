"""What cannot be asked of helpers and deployments, by the functions of librsg themselves."""

import math
import threading

from simunix.rsg._librsg import ffi, lib

from simunix.rsg import this_actor

number = ffi.new("int64_t *")


def tell(name: str, code: int) -> None:
    print(f"{name}: {ffi.string(lib.rsg_error_text(code)).decode()}", flush=True)


def helper() -> None:
    tell("a helper of nobody", lib.rsg_help(99, number))
    tell("a helper", lib.rsg_help(1, number))
    tell("once more", lib.rsg_help(1, number))
    tell("sleep of a helper", lib.rsg_sleep(5.0))
    tell("afterwards", lib.rsg_sleep(5.0))
    tell("a helper again", lib.rsg_help(1, number))


this_actor.get_pid()
tell("an actor as a helper", lib.rsg_help(1, number))
tell("dismiss nobody", lib.rsg_dismiss(7))
tell("await a host as an actor", lib.rsg_await_host(0))
tell("killed at no date", lib.rsg_kill_time(0, math.nan))
tell("killed in the past", lib.rsg_kill_time(0, -1.0))
thread = threading.Thread(target=helper)
thread.start()
this_actor.sleep_for(1)
tell("dismiss", lib.rsg_dismiss(number[0]))
thread.join()
this_actor.sleep_for(1)
