"""The live page under attack: crowds, slow senders, streams without end, paths that lead elsewhere; the run is unharmed."""

from __future__ import annotations

import contextlib
import http.client
import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import pytest

from simunix.app.join import ask
from simunix.view.pages import STREAMS_MOST
from tests.system.tools.test_view import WORK, Page, page_of, run_of
from tests.system.user import LIMIT_S

CROWD = 2000
SPARE = 200
"""Descriptors that the test needs besides those of the crowd."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with run_of(tmp_path_factory.mktemp("run"), WORK, "--until", "1000h", "--pace", "10") as out:
        yield out


@pytest.fixture(scope="module")
def page(run: Path) -> Iterator[Page]:
    with page_of(run) as found:
        yield found


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CROWD + SPARE:
        pytest.skip(f"needs {CROWD + SPARE} descriptors; this user may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before, CROWD + SPARE), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


@pytest.mark.slow
@pytest.mark.usefixtures("many_descriptors")
def test_two_thousand_connections_are_survived(page: Page, run: Path) -> None:
    with ExitStack() as stack:
        for number in range(CROWD):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=LIMIT_S))
            if number % 2:
                with contextlib.suppress(OSError):  # the page has given up on an early one
                    one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert page.request("GET", page.path)[0] == 200
        before = ask(run, {"op": "status"})["virtual_s"]
        page.go_until(before + 5)
    assert page.request("GET", page.path)[0] == 200


@pytest.mark.slow
def test_a_header_that_comes_byte_by_byte_is_given_up(page: Page) -> None:
    """Each byte is in time, the whole header is not."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=LIMIT_S) as slow:
        slow.settimeout(0.3)
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            try:
                slow.sendall(b"G")
                if slow.recv(1000) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    raise AssertionError("the connection is still open")


@pytest.mark.slow
def test_a_body_that_never_comes_holds_up_nothing(page: Page) -> None:
    with socket.create_connection(("127.0.0.1", page.port), timeout=LIMIT_S) as slow:
        head = "".join(f"{name}: {value}\r\n" for name, value in page.own.items())
        slow.sendall(
            f"POST {page.path}do HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n".encode()
        )
        assert page.request("GET", page.path)[0] == 200
        assert b"400" in slow.recv(1000)  # the page has told that the request did not come


def test_streams_are_counted(page: Page) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(contextlib.closing(page.messages())) for _ in range(STREAMS_MOST)]
        for stream in streams:
            next(stream)
        status, _, body = page.request("GET", f"{page.path}stream")
        assert (status, body) == (503, b"32 pages show this run already; close one of them\n")
        streams[0].close()
        end = time.monotonic() + LIMIT_S
        while _status_of_stream(page) == 503:
            assert time.monotonic() < end
            time.sleep(0.1)


def _status_of_stream(page: Page) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=LIMIT_S)
    with contextlib.closing(connection):
        connection.request("GET", f"{page.path}stream", headers=page.own)
        return connection.getresponse().status


@pytest.mark.parametrize("host", ["n1", "..", "../..", "n1/..", "n1\0", "", "n9", "x" * 2000])
@pytest.mark.parametrize("name", ["../../run.json", "/etc/passwd", "hostname", "files/../../../live.json", "talk.out\0", ""])
def test_only_logs_are_given(page: Page, host: str, name: str) -> None:
    status, _, body = page.request("GET", f"{page.path}log?{urlencode({'host': host, 'name': name})}")
    assert status == 400 and "no such" in json.loads(body)["error"]


def test_a_log_is_given_as_it_grows(page: Page, run: Path) -> None:
    page.go_until(ask(run, {"op": "status"})["virtual_s"] + 10)
    assert "talk.out" in json.loads(page.request("GET", f"{page.path}logs?host=n2")[2])
    found = json.loads(page.request("GET", f"{page.path}log?host=n2&name=talk.out")[2])
    assert found["text"].startswith("15778368")
    more = json.loads(page.request("GET", f"{page.path}log?host=n2&name=talk.out&from={found['next']}")[2])
    assert more == {"text": "", "next": found["next"]}
    loads = json.loads(page.request("GET", f"{page.path}loads")[2])
    assert (loads["watts"], loads["links"], loads["storages"]) == (None, [], [])
