"""`simunix view`: the live page over HTTP, who may use it, what is done by hand, and that it can be done again."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from simunix.app.join import ask
from tests.conftest import Simunix
from tests.starts import start
from tests.system.tools.test_watch import _is_paused
from tests.system.user import LIMIT_S

WORK = """\
name: work # a comment that stays
hosts: [{name: 'n[1-3]'}]
processes:
  - {name: births, host: n1, command: 'while :; do (sleep 1; echo x) > /dev/null; sleep 1; done', expect: [0, SIGKILL]}
  - {name: talk, host: n2, command: 'while :; do sleep 3; date +%s; done'}
until: 10min
stop: time
"""


class Page:
    """A live page that is served; `path` begins with the token."""

    def __init__(self, address: str) -> None:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)\n", address)
        assert found is not None, address
        self.port, self.path = int(found[1]), found[2]
        self.own = {"Host": f"127.0.0.1:{self.port}", "Origin": f"http://127.0.0.1:{self.port}"}

    def request(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: object = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Status, headers and body of the answer; `headers` stand in the place of the page's own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            told = self.own if headers is None else headers
            text = None if body is None else json.dumps(body).encode()
            connection.request(method, path, text, {"Content-Type": "application/json", **told})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def do(self, **request: object) -> dict[str, Any]:
        """What the page answers if the user does something."""
        answer: dict[str, Any] = json.loads(self.request("POST", f"{self.path}do", body=request)[2])
        return answer

    def go_until(self, at_s: float) -> None:
        """Have the run go on until a moment, and wait until it is paused there."""
        assert "said" in self.do(what="until", at_s=at_s)
        self.until(lambda state: state["clock"]["paused"] and state["clock"]["virtual_s"] >= at_s)

    def messages(self) -> Iterator[dict[str, Any]]:
        """What a browser is told, from the whole state on."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            connection.request("GET", f"{self.path}stream", headers=self.own)
            answer = connection.getresponse()
            assert answer.headers["content-type"].startswith("text/event-stream")
            while line := answer.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))
        finally:
            connection.close()

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The state when a condition first holds, of messages put together."""
        state: dict[str, Any] = {}
        end = time.monotonic() + LIMIT_S
        for message in self.messages():
            hosts, jobs = state.get("hosts", {}) | message["hosts"], state.get("jobs", {})
            actions = state.get("actions", {}) | {each["number"]: each for each in message["actions"]}
            faults = [*state.get("faults", []), *message["faults"]]
            jobs |= {job[0]: job for job in message["jobs"]}
            state = {**state, **message, "hosts": hosts, "jobs": jobs, "actions": actions, "faults": faults}
            if condition(state):
                return state
            assert time.monotonic() < end, state
        raise AssertionError(f"the stream has ended: {state}")


@contextmanager
def run_of(folder: Path, text: str, *options: str) -> Iterator[Path]:
    """The run directory of a run that is paused at its first second."""
    (folder / "s.yaml").write_text(text)
    words = ("run", folder / "s.yaml", "--epoch", "2020-01-01", "--pause-at", "1", "--out", folder / "out", *options)
    with start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + LIMIT_S
            while not _is_paused(folder / "out"):
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.05)
            yield folder / "out"
        finally:
            process.terminate()
            process.wait(timeout=LIMIT_S)


@contextmanager
def page_of(out: Path) -> Iterator[Page]:
    """A page of a run, which is closed as Ctrl-C closes it."""
    with start("view", out, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield Page(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=LIMIT_S) == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with run_of(tmp_path_factory.mktemp("run"), WORK, "--until", "1000h", "--pace", "10") as out:
        yield out


@pytest.fixture(scope="module")
def page(run: Path) -> Iterator[Page]:
    with page_of(run) as found:
        yield found


def test_a_browser_is_told_the_whole_then_what_changes(page: Page, run: Path) -> None:
    state = page.until(lambda state: state["status"] == "running" and len(state["hosts"]) == 3)
    assert state["facts"]["name"] == "work" and list(state["facts"]["hosts"]) == ["n1", "n2", "n3"]
    assert state["clock"]["paused"] and state["clock"]["virtual_s"] >= 1
    processes = json.loads(page.request("GET", f"{page.path}processes?host=n2")[2])
    assert {each["host"] for each in processes} == {"n2"} and all(each["threads"] for each in processes)
    assert "said" in page.do(what="until", for_s=5)
    page.until(lambda state: state["clock"]["paused"] and state["clock"]["virtual_s"] >= 6)
    assert page.do(what="step") == {"said": "step: done"}
    assert page.do(what="pace", pace=20) == {"said": "pace: done"}
    assert page.until(lambda state: state["clock"]["pace"] == 20)["clock"]["virtual_s"] >= 6


def test_what_the_page_sends_has_a_policy_and_no_script_inside(page: Page) -> None:
    status, headers, body = page.request("GET", page.path)
    assert status == 200 and b"<script src=" in body and not re.search(rb"<script(?! src=)|\son\w+=|\sstyle=", body)
    assert "default-src 'none'" in headers["content-security-policy"] and "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
    for name in re.findall(rb'(?:src|href)="([\w.]+)"', body):
        if name != b"scenario":
            assert page.request("GET", page.path + name.decode())[0] == 200, name


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/stream", "/do", "//stream", "/%00/", "/x" * 3000),
        *("/0123456789abcdef0123456789abcdef/", "/0123456789abcdef0123456789abcdef/stream"),
    ],
)
def test_without_the_token_nothing_is_told(page: Page, path: str) -> None:
    status, _, body = page.request("GET", path)
    assert status == 403 and body.startswith(b"refused: ") and b"work" not in body


@pytest.mark.parametrize(
    "path", ["../run.json", "..%2f..%2frun.json", "%2e%2e/run.json", "run.json", "live.py", "//etc/passwd", "vendor/../live.js"]
)
def test_no_other_file_is_given(page: Page, path: str) -> None:
    assert page.request("GET", page.path + path)[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "[::1"},
        {"Host": "127.0.0.1", "Origin": "http://evil.example"},
        {"Host": "127.0.0.1", "Origin": "null"},
        {"Host": "127.0.0.1", "Origin": "http://127.0.0.1:1"},
        {"Host": "127.0.0.1", "Sec-Fetch-Site": "cross-site"},
        {"Host": "127.0.0.1", "Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_are_refused(page: Page, headers: dict[str, str]) -> None:
    assert page.request("GET", page.path, headers)[0] == 403
    assert page.request("POST", f"{page.path}do", headers, {"what": "stop"})[0] == 403


def test_a_change_needs_an_origin(page: Page) -> None:
    assert page.request("POST", f"{page.path}do", {"Host": "localhost"}, {"what": "stop"})[0] == 403
    told = {**page.own, "Content-Type": "text/plain"}
    assert page.request("POST", f"{page.path}do", told, {"what": "stop"})[0] == 400


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (17, 'expected an object with "what", one of pause'),
        ({"what": ["stop"]}, 'expected an object with "what", one of pause'),
        ({"what": "until", "at_s": "soon"}, "until: expected a number of seconds, got 'soon'"),
        ({"what": "until", "at_s": 0}, "name a later moment"),
        ({"what": "pace", "pace": -1}, "pace: expected a number above 0"),
        ({"what": "event", "event": {"host": "n9", "state": "off"}}, "host 'n9': no such host; known: n1, n2, n3"),
        ({"what": "event", "event": {"host": "n1"}}, "event: expected what happens to the host"),
        ({"what": "event", "event": "off"}, "event: expected an object"),
        ({"what": "event", "event": {"host": "n1", "state": "off", "duration": "1s"}}, "duration: an action by hand lasts"),
        ({"what": "run", "host": "n9", "command": "true"}, "run: n9: no such host"),
        ({"what": "run", "host": "n1", "command": " "}, "run: expected a host, and a command"),
    ],
)
def test_what_cannot_be_done_gets_a_line(page: Page, request_: object, expected: str) -> None:
    status, _, body = page.request("POST", f"{page.path}do", body=request_)
    assert status == 400 and expected in json.loads(body)["error"]


def test_a_body_that_is_too_long_or_no_json_gets_a_line(page: Page) -> None:
    assert b"64 KiB" in page.request("POST", f"{page.path}do", body="x" * 100_000)[2]
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=LIMIT_S)
    connection.request("POST", f"{page.path}do", b"\xff{", {**page.own, "Content-Type": "application/json"})
    assert b"expected JSON" in connection.getresponse().read()
    connection.close()


def test_many_and_slow_connections_harm_neither_page_nor_run(page: Page, run: Path) -> None:
    with ExitStack() as stack:
        for number in range(300):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=LIMIT_S))
            if number % 2:
                slow.sendall(b"GET / HTTP/1.1\r\nHost: ")  # the rest never comes
        slow.settimeout(LIMIT_S)
        assert page.request("GET", page.path)[0] == 200
        assert ask(run, {"op": "status"})["hosts"] == ["n1", "n2", "n3"]
        assert slow.recv(1) == b""  # closed: its header did not come in time
    with socket.create_connection(("127.0.0.1", page.port), timeout=LIMIT_S) as garbage:
        garbage.sendall(b"\x16\x03\x01\x00\xff" * 100 + b"\r\n\r\n")
        garbage.recv(1000)
    assert page.request("GET", page.path)[0] == 200


def test_wrong_folders_and_ports_get_one_line(tmp_path: Path, simunix: Simunix, run: Path) -> None:
    done = simunix("view", tmp_path / "no")
    told = f"simunix: {tmp_path / 'no'}: there is no such folder; give the folder of a run, as simunix run --out made it\n"
    assert (done.returncode, done.stderr) == (2, told)
    done = simunix("view", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"simunix: {tmp_path}: is not the folder of a run: it has no live.json, no run.json\n",
    )
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = simunix("view", run, "--port", port)
    told = f"simunix: --port {port}: Address already in use; choose another port, or none for any free one\n"
    assert (done.returncode, done.stderr) == (2, told)
    done = simunix("view", run, "--port", "70000")
    assert (done.returncode, done.stderr) == (2, "simunix: --port: expected a number from 0 to 65535, got 70000\n")
    (tmp_path / "live.json").write_text("{}")
    done = simunix("view", tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"simunix: {tmp_path / 'live.json'}: cannot be read")
    assert done.stderr.count("\n") == 1


def test_a_program_starts_after_the_changes_of_its_moment_as_in_a_scenario(tmp_path: Path) -> None:
    with run_of(tmp_path, WORK) as out, page_of(out) as page:
        for host in ("n1", "n3"):
            page.do(what="run", host=host, command="true by hand")
        page.do(what="event", event={"host": "n3", "state": "off"})
        page.go_until(2)
        state = page.until(lambda state: len(state["actions"]) == 3 and state["actions"][1]["status"] == 0)
    assert (state["actions"][2]["status"], state["actions"][2]["output"]) == (
        "lost",
        "host n3: switched off; switch it on before a program is started there",
    )
    log = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    found = [each["event"] for each in log if each["event"] == "host_off" or "true by hand" in str(each.get("argv"))]
    assert found == ["host_off", "process_start"]


@pytest.mark.slow
def test_what_was_done_by_hand_is_done_again_by_the_saved_scenario(tmp_path: Path, simunix: Simunix) -> None:
    """While the run is paused, nothing else happens at the moment of an action: a run of it has the same events."""
    with run_of(tmp_path, WORK) as out, page_of(out) as page:
        page.go_until(60.5)
        soon = "happens as soon as the run goes on"
        assert page.do(what="event", event={"host": "n3", "state": "off"}) == {"said": f"host n3, state off: {soon}"}
        assert page.do(what="event", event={"link": "n2", "state": "down"}) == {"said": f"link n2, state down: {soon}"}
        page.go_until(100.25)
        page.do(what="event", event={"host": "n3", "state": "on"})
        page.go_until(150.125)
        saved = page.request("GET", f"{page.path}scenario")[2].decode()
        state = page.until(lambda state: len(state["actions"]) == 3 and len(state["faults"]) >= 3)
        assert [state["actions"][number]["at_s"] for number in (1, 2, 3)] == [60.5, 60.5, 100.25]
        assert [fault["what"] for fault in state["faults"]] == ["host_off", "link", "host_on"]
        page.do(what="resume")
        ended = page.until(lambda state: state["status"] == "ended")
        assert ended["text"] == "this run has ended: time limit"
    assert "# a comment that stays" in saved and len(yaml.safe_load(saved)["events"]) == 3
    (tmp_path / "again.yaml").write_text(saved)
    done = simunix("run", tmp_path / "again.yaml", "--epoch", "2020-01-01", "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert (out / "events.jsonl").read_bytes() == (tmp_path / "again" / "events.jsonl").read_bytes()
    digests = [json.loads((folder / "run.json").read_text())["events_sha256"] for folder in (out, tmp_path / "again")]
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_a_program_run_by_hand_is_a_process_of_the_saved_scenario(tmp_path: Path, simunix: Simunix) -> None:
    with run_of(tmp_path, WORK) as out, page_of(out) as page:
        page.go_until(60.5)
        assert page.do(what="run", host="n3", command="date +%s; exit 3")["said"].startswith("n3: runs, or waits")
        page.go_until(61)
        state = page.until(lambda state: state["actions"].get(1, {}).get("status") == 3)
        assert state["actions"][1]["output"] == "1577836860\n"
        saved = page.request("GET", f"{page.path}scenario")[2].decode()
    (tmp_path / "again.yaml").write_text(saved)
    done = simunix("run", tmp_path / "again.yaml", "--epoch", "2020-01-01", "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again/hosts/n3/by-hand-1.out").read_text() == "1577836860\n"


@pytest.mark.slow
def test_a_page_outlives_its_run_and_shows_its_results(tmp_path: Path) -> None:
    with run_of(tmp_path, WORK) as out, page_of(out) as page:
        page.do(what="event", event={"host": "n3", "state": "off"})
        page.do(what="resume")
        page.until(lambda state: state["status"] == "ended")
        assert page.do(what="pause") == {
            "error": f"{out.resolve()}: no emulation is running here; start one with simunix run … --out"
        }
    with page_of(out) as page:
        state = page.until(lambda state: state["status"] == "ended")
        assert state["clock"]["virtual_s"] == 600 and [fault["what"] for fault in state["faults"]] == ["host_off"]
        assert page.do(what="pause") == {"error": "this run has ended: there is nothing to be changed"}


@pytest.mark.slow
def test_a_run_serves_its_own_page_which_ends_with_it(tmp_path: Path, simunix: Simunix) -> None:
    (tmp_path / "s.yaml").write_text(WORK)
    words = ("run", tmp_path / "s.yaml", "--pace", "20", "--out", tmp_path / "out", "--view")
    with start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "live page" in line)
        page = Page(line.removeprefix("simunix: live page: "))
        assert page.until(lambda state: state["status"] == "running")["facts"]["name"] == "work"
        page.do(what="stop")
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0
    with pytest.raises(ConnectionRefusedError):
        page.request("GET", page.path)
    done = simunix("run", "--view", "--", "true")
    assert (done.returncode, done.stderr) == (2, "simunix: --view: a single command has no machine to show; run a scenario\n")
