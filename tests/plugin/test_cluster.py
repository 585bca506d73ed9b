"""The fixture itself: hosts, programs, times, failures, outputs, and one clear line for what cannot be."""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rsg_server.errors import DeadlockError, SimunixError
from simunix.testing import Cluster, Program

PORT = 7000
GREETING = "good morning"


def test_times_are_virtual(emulation: Cluster) -> None:
    program = emulation.host("a").start("sleep 3600; echo done", at="1 day")
    result = emulation.run(check=True)
    assert program.started_s == 86400
    assert program.ended_s == pytest.approx(90000, abs=0.01)
    assert (program.stdout, program.exit_code) == ("done\n", 0)
    assert (emulation.now, result.ended) == (result.virtual_s, "done")


def test_hosts_have_addresses_in_the_order_of_naming(emulation: Cluster) -> None:
    first, second = emulation.hosts("n[1-2]")
    third = emulation.host("other", address="10.9.8.7")
    assert [host.address for host in (first, second, third)] == ["10.0.0.1", "10.0.0.2", "10.9.8.7"]
    assert emulation.host("n2") is second


def measure(host: str) -> None:
    start = time.monotonic()
    socket.create_connection((host, PORT)).recv(1)
    print(time.monotonic() - start)


def accept_and_close() -> None:
    with socket.create_server(("", PORT)) as listener:
        while True:
            listener.accept()[0].close()


def test_links_differ(emulation: Cluster) -> None:
    emulation.network(latency="1ms")
    near, server = emulation.hosts("n[1-2]")
    far = emulation.host("far", latency="99ms", bandwidth="1MBps")
    server.start(accept_and_close, daemon=True)
    clients = [host.start(emulation.python(measure, server.name), at=1) for host in (near, far)]
    emulation.run(check=True)
    waited = [float(client.stdout) for client in clients]
    assert waited == [pytest.approx(0.004, abs=0.001), pytest.approx(0.2, abs=0.001)]  # there and back over two links


def test_daemons_do_not_hold_up_the_end(emulation: Cluster) -> None:
    host = emulation.host("a")
    daemon = host.start(accept_and_close, daemon=True)
    host.start("sleep 5")
    assert emulation.run(check=True).ended == "done"
    assert daemon.is_running and daemon.exit_code is None


def test_files_go_in_and_come_out(emulation: Cluster) -> None:
    host = emulation.host("a")
    name = host.write("conf/words", "one\ntwo\n")
    host.start(["sort", "-r", name, "-o", "sorted"])
    host.start("pwd; cat sorted > again", at=1, name="second")
    emulation.run(check=True)
    assert (host.read("sorted"), host.read("again")) == ("two\none\n", "two\none\n")
    assert emulation.process("second").stdout == "/run/work\n"
    with pytest.raises(SimunixError, match="a: missing: No such file or directory in the host's work folder"):
        host.read("missing")


# Failures


def greet_until_told() -> None:
    def leave(number: int, frame: object) -> None:
        print(GREETING, flush=True)
        sys.exit(5)

    signal.signal(signal.SIGTERM, leave)
    while True:
        time.sleep(1000)


def test_signals_come_at_their_times(emulation: Cluster) -> None:
    a, b = emulation.hosts("n[1-2]")
    told, killed = a.start(greet_until_told), b.start("exec sleep 1d")
    told.terminate(at="1h")
    killed.kill(at="2h")
    result = emulation.run()
    assert (told.exit_code, told.stdout) == (5, f"{GREETING}\n")
    assert (killed.exit_code, killed.ended_s, result.virtual_s) == (-signal.SIGKILL, 7200, 7200)
    assert [event["signal"] for event in result.events("signal_injected")] == [signal.SIGTERM, signal.SIGKILL]


def test_signal_at_the_moment_of_the_start(emulation: Cluster) -> None:
    program = emulation.host("a").start("exec sleep 1d", at=3)
    program.kill(at=3)
    emulation.run()
    assert program.exit_code == -signal.SIGKILL
    assert program.ended_s == pytest.approx(3, abs=1e-3)


def test_signal_before_the_start_and_after_the_end_is_nothing(emulation: Cluster) -> None:
    program = emulation.host("a").start("sleep 1", at=3)
    emulation.host("a").start("sleep 10", name="other")
    program.kill(at=1)
    program.kill(at=8)
    emulation.run(check=True)
    assert program.exit_code == 0


def test_stopped_process_goes_on_when_continued(emulation: Cluster) -> None:
    program = emulation.host("a").start(emulation.python("import time\nfor i in range(5): time.sleep(1)"))
    program.send_signal(signal.SIGSTOP, at=2.5)
    program.send_signal(signal.SIGCONT, at="1h")
    emulation.run(check=True)
    assert program.ended_s == pytest.approx(3602, abs=1)


def test_actions_see_the_run_as_it_goes(emulation: Cluster) -> None:
    program = emulation.host("a").start("while sleep 1; do echo tick; done")
    seen: list[tuple[float, int, bool]] = []

    def look() -> None:
        seen.append((emulation.now, program.stdout.count("tick"), program.is_running))
        if program.stdout.count("tick") > 5:
            program.kill()

    emulation.at("3.5s", look)
    emulation.at("6.5s", look)
    emulation.run()
    assert seen == [(3.5, 3, True), (6.5, 6, True)]
    assert program.ended_s == 6.5


def test_what_an_action_raises_comes_out(emulation: Cluster) -> None:
    emulation.host("a").start("sleep 10")
    emulation.at(1, lambda: [][0])
    with pytest.raises(IndexError):
        emulation.run()
    emulation.host("b").start("true")


def test_faults_of_unknown_hosts_are_refused(emulation: Cluster) -> None:
    emulation.host("a")
    with pytest.raises(SimunixError, match=r"host 'b': no such host; known: a"):
        emulation.partition("a", "b", at=1)
    with pytest.raises(SimunixError, match=r"lose_datagrams\(2\): expected a part of all"):
        emulation.lose_datagrams(2, "a")
    with pytest.raises(SimunixError, match="nothing runs now"):
        emulation.host("a").crash()


def test_deadlock_is_an_exception(emulation: Cluster) -> None:
    emulation.host("a").start(emulation.python("import socket\nsocket.create_server(('', 1)).accept()"))
    with pytest.raises(DeadlockError, match=r"a: .*python.* waits for descriptor"):
        emulation.run()


# Repetition


def test_runs_begin_anew(emulation: Cluster) -> None:
    program = emulation.host("a").start("cat seen; echo run > seen; od -N8 -An -tx8 /dev/urandom")
    first, bytes_of_first = emulation.run(), program.stdout
    second, bytes_of_second = emulation.run(), program.stdout
    emulation.seed = 9
    third = emulation.run()
    assert (first.digest, bytes_of_first) == (second.digest, bytes_of_second)
    assert program.stdout != bytes_of_first
    assert len({first.directory, second.directory, third.directory}) == 3


# Programs


def helper(word: str) -> str:
    return f"{GREETING}, {word}"


def calls_helper(words: list[str]) -> None:
    for word in words:
        print(helper(word), Path("x").suffix == "", PORT)


def test_functions_bring_what_they_use(emulation: Cluster) -> None:
    program = emulation.host("a").start(emulation.python(calls_helper, ["you"]))
    emulation.run(check=True)
    assert program.stdout == "good morning, you True 7000\n"


def test_sources_are_text_or_files(emulation: Cluster, tmp_path: Path) -> None:
    (tmp_path / "toy.h").write_text("#define CODE 7\n")
    (tmp_path / "toy.c").write_text(
        '#include "toy.h"\n#include <math.h>\nint main(int n, char **w) { return CODE + pow(n, 2); }\n'
    )
    (tmp_path / "toy.py").write_text("import sys; print(sys.argv[1:])\n")
    host = emulation.host("a")
    from_c = host.start(emulation.c(tmp_path / "toy.c", "-lm"), 1, 2)
    from_python = host.start(tmp_path / "toy.py", "x", 3)
    text = host.start(emulation.c("int main(void) { return 3; }", name="text"))
    emulation.run()
    assert (from_c.exit_code, from_python.stdout, text.exit_code) == (16, "['x', '3']\n", 3)
    assert (from_c.name, from_python.name, text.name) == ("toy", "toy-2", "text")


def closure() -> Callable[[], None]:
    word = "x"
    return lambda: print(word)


def uses_its_surroundings() -> Callable[[], None]:
    word = "x"

    def inner() -> None:
        print(word)

    return inner


def uses_a_lock() -> None:
    print(LOCK)


LOCK = object()

MISTAKES: dict[str, tuple[Callable[[Cluster], object], str]] = {
    "nothing to run": (lambda c: c.run(), "there is nothing to run; start a program first"),
    "no such program": (lambda c: c.host("a").start(["/no/such"]), "a: /no/such: no such program"),
    "empty command": (lambda c: c.host("a").start([]), "got an empty list"),
    "bad rate": (lambda c: c.host("a", bandwidth="10G"), r"host\('a'\): bandwidth: expected a rate such as '10Gbps'"),
    "bad latency": (lambda c: c.network(latency="slow"), r"network\(\): latency: expected a duration"),
    "bad address": (lambda c: c.host("a", address="here"), r"host\('a'\): address: expected an IPv4 or IPv6 address"),
    "taken address": (lambda c: c.hosts("a[1-2]") and c.host("b", address="10.0.0.1"), "same address 10.0.0.1"),
    "host twice": (lambda c: c.host("a") and c.host("a", cores=2), "host a is named twice"),
    "many hosts": (lambda c: c.host("a[1-2]"), r"for several there is hosts\(\)"),
    "bad name": (lambda c: c.host("a b"), "is no host name"),
    "bad start": (lambda c: c.host("a").start("true", at="noon"), r"start\('sh'\): start: expected a duration"),
    "name twice": (
        lambda c: [c.host("a").start("true", name="x") for _ in "12"],
        "there is a process of this name on a already",
    ),
    "no such process": (lambda c: c.process("x"), r"process\('x'\): no process is called so; known: none"),
    "output before": (lambda c: c.host("a").start("true").stdout, "nothing has been run yet"),
    "kill when": (lambda c: c.host("a").start("true").kill(), r"say when: kill\(at='5s'\)"),
    "outside": (lambda c: c.host("a").write("../x", ""), "expected a path inside the host's work folder"),
    "two contents": (lambda c: [c.host("a").write("x", text) for text in "12"], "there are two different files x"),
    "until when": (lambda c: c.host("a").start("true") and c.run(until="noon"), r"run\(until=\): expected a duration"),
    "no source": (lambda c: c.c("none.c"), "none.c: No such file or directory; give a .c file"),
    "bad python": (lambda c: c.python("x = ("), r"program.py:1: '\(' was never closed"),
    "lambda": (lambda c: c.python(closure()), "expected a function written with def"),
    "surroundings": (lambda c: c.python(uses_its_surroundings()), r"inner\(\): uses word of the function around it"),
    "global": (lambda c: c.python(uses_a_lock), r"uses_a_lock\(\): the global LOCK cannot be written as text"),
    "argument": (lambda c: c.python(helper, LOCK), r"helper\(\): argument <object.* cannot be written as text"),
    "words": (lambda c: c.python("print()", 1), "only functions are called with arguments"),
    "failed": (lambda c: c.host("a").start("exit 3") and c.run(check=True), "sh@a ended with exit code 3"),
    "seed": (lambda c: setattr(c, "seed", -1), "seed: expected a whole number from 0 on, got -1"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(emulation: Cluster, name: str) -> None:
    mistake, words = MISTAKES[name]
    with pytest.raises(SimunixError, match=words) as caught:
        mistake(emulation)
    assert "\n" not in str(caught.value)


def test_program_is_a_value() -> None:
    program = Program("toy", ("python3",), "toy.py", b"")
    assert program.argv("/there") == ("python3", "/there/toy.py")
