"""Scripts as people write them, natively and emulated: perl, python with threads and subprocesses, job control of bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

PERL = r"""
use strict; use warnings; use POSIX ":sys_wait_h"; $| = 1;
my $start = time;
my %seconds;
for my $n (3, 1, 2) { my $pid = fork // die; if (!$pid) { sleep $n; exit $n } $seconds{$pid} = $n }
while ((my $pid = wait) > 0) { print "child of $seconds{$pid} s: ", $? >> 8, " at ", time - $start, "\n" }
eval { local $SIG{ALRM} = sub { die "alarm\n" }; alarm 4; select undef, undef, undef, 100 };
print "$@", time - $start, " s\n";
open my $out, "-|", "sleep 2; echo from a pipe" or die; print <$out>; close $out;
print time - $start, " s\n";
"""
PYTHON = """
import concurrent.futures, queue, signal, subprocess, sys, threading, time

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda n: time.sleep(n / 5) or n * n, [1, 2, 3, 4, 5, 6])))

work, done = queue.Queue(), []

def serve():
    while (item := work.get()) is not None:
        shell = subprocess.run(["sh", "-c", f"sleep {item}; echo {item}"], capture_output=True, text=True)
        done.append(shell.stdout.strip())

threads = [threading.Thread(target=serve) for _ in range(3)]
for thread in threads:
    thread.start()
for item in [2.4, 1.5, 0.6, 1.35, 1.35, 1.35, None, None, None]:
    work.put(item)
for thread in threads:
    thread.join()
print(done)

try:
    subprocess.run(["sleep", "60"], timeout=0.5)
except subprocess.TimeoutExpired as error:
    print("timeout", round(error.timeout, 1))

counter = subprocess.Popen(["sh", "-c", "while read line; do echo $((line * 2)); done"], stdin=-1, stdout=-1, text=True)
for number in (21, 22):
    print(number, file=counter.stdin, flush=True)
    print(counter.stdout.readline().strip())
counter.stdin.close()
print(counter.wait())

sleepers = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
threading.Timer(0.3, lambda: [sleeper.send_signal(signal.SIGTERM) for sleeper in sleepers]).start()
print([sleeper.wait() for sleeper in sleepers])

barrier, condition, turns = threading.Barrier(3), threading.Condition(), []

def take_turns(number):
    barrier.wait()
    for turn in range(3):
        with condition:
            condition.wait_for(lambda: len(turns) == 3 * turn + number)
            turns.append(number)
            condition.notify_all()

threads = [threading.Thread(target=take_turns, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(timeout=5)
print(turns, threading.active_count())
"""
BASH = r"""
exec 2>&1
set -m
tidy() { sed -E 's/ +/ /g; s/\[[0-9]+\] [0-9]+$/[job] pid/'; }

echo "== stop and continue"
sleep 100 &
sleep 1.4 | cat &
kill -STOP %1; sleep 0.2; jobs | tidy
kill -CONT %1; sleep 0.2; jobs %1 | tidy
wait %2; echo "the pipeline ended with $?"
kill %1; wait %1; echo "the first ended with $?"

echo "== foreground and background"
sleep 0.4 & kill -STOP %1; sleep 0.2; jobs | tidy; fg %1; echo "fg: $?"
sleep 0.4 & kill -STOP %%; sleep 0.2; bg %% >told; tidy <told; wait; echo "bg: $?"
(kill -STOP $BASHPID; echo resumed; exit 5) & sleep 0.2; jobs -s | tidy; kill -CONT %%; wait %%; echo "it ended with $?"

echo "== wait for any"
declare -A name
for t in 0.9 0.3 0.6; do sleep $t & name[$!]=$t; done
for i in 1 2 3; do wait -n -p who; echo "ended: ${name[$who]}"; done
(exit 7) & (sleep 0.3; exit 8) & wait -n; a=$?; wait -n; echo "$a $?"; wait -n; echo "nothing left: $?"

echo "== traps"
trap 'echo got USR1' USR1
(sleep 0.3; kill -USR1 $$) & wait $!; echo "wait was cut short: $?"; wait
trap 'children=$((children + 1))' CHLD; children=0
for t in 0.2 0.4 0.6; do sleep $t & done; wait; echo "$children children"; trap - CHLD
(trap 'echo "leaving with $?"' EXIT; trap 'echo an error' ERR; false; exit 4); echo "$?"
bash -c 'trap "" TERM; kill $$; echo still here; trap - TERM; kill $$; echo not seen'; echo "$?"

echo "== pipes and limits"
coproc { while read -r line; do echo "<$line>"; done; }
echo hello >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo "$answer"
eval "exec ${COPROC[1]}>&-"; wait "$COPROC_PID"; echo "coproc: $?"
timeout 0.5 sleep 60; echo "timeout: $?"
{ timeout -s KILL 0.5 sleep 60; } 2>/dev/null; echo "timeout: $?"
read -r -t 0.3 line < <(sleep 1); echo "read: $(($? > 128))"
diff <(seq 3) <(sleep 0.2; seq 3) && echo same
seq 100000 | head -1; echo "${PIPESTATUS[@]}"
tee >(wc -l >lines) >(sort -r | head -1 >last) < <(seq 20) >/dev/null; sleep 0.5; cat lines last
mapfile -t words < <(printf '%s\n' one two three); echo "${#words[@]} ${words[2]}"

echo "== files"
mkfifo queue; { sleep 0.3; echo through a fifo; } >queue & read -r line <queue; wait; echo "$line"
(flock 9; sleep 0.5; echo first) 9>lock & sleep 0.2; (flock 9; echo second) 9>lock; wait
exec {fd}<>both; echo read and written >&"$fd"; cat both; exec {fd}>&-
cat <<END | tr a-z A-Z
a here-document of $((6 * 7)) $(echo words | tr -d s)
END
cat <<-'END'
	$untouched
	END
cat <<<"a here-string"
ulimit -n 64; echo "$(ulimit -n)"
"""
SCENARIO = """
name: scripts
hosts: [{name: a1}]
processes:
  - {name: script, host: a1, private: [/srv/script], directory: /srv/script, command: [INTERPRETER, FILE]}
"""
NATIVE_LIMIT_S = 60


def emulated(run_twice: RunTwice, interpreter: str, file: Path) -> str:
    """What a script prints, twice the same, in an emulation."""
    run = run_twice(SCENARIO.replace("INTERPRETER", interpreter).replace("FILE", str(file)))
    return run.everything("a1", "script")


def natively(interpreter: str, file: Path) -> str:
    """What it prints on this computer; in a session of its own, as in the emulation, so that it has no terminal."""
    folder = file.parent / "native"
    folder.mkdir()
    done = subprocess.run(
        [interpreter, file],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NATIVE_LIMIT_S,
        cwd=folder,
        start_new_session=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
    )
    return done.stdout + done.stderr


def test_perl(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("perl")
    (tmp_path / "script.pl").write_text(PERL)
    assert emulated(run_twice, "/usr/bin/perl", tmp_path / "script.pl").splitlines() == [
        *[f"child of {n} s: {n} at {n}" for n in (1, 2, 3)],
        "alarm",
        "7 s",
        "from a pipe",
        "9 s",
    ]


@pytest.mark.parametrize(
    ("interpreter", "text", "last"),
    [
        ("/usr/bin/python3", PYTHON, "[0, 1, 2, 0, 1, 2, 0, 1, 2] 1"),
        ("/bin/bash", BASH, "a here-string\n64"),
    ],
    ids=["python", "bash"],
)
def test_natively_and_emulated(run_twice: RunTwice, tmp_path: Path, interpreter: str, text: str, last: str) -> None:
    file = tmp_path / "alone" / "script"  # python lists the folder of its script, where run directories come to be
    file.parent.mkdir()
    file.write_text(text)
    told = emulated(run_twice, interpreter, file)
    assert told.rstrip().endswith(last), told
    assert told.splitlines() == natively(interpreter, file).splitlines()


def test_job_control_takes_its_time(run_twice: RunTwice, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(BASH + "date +%T.%2N\n")
    assert emulated(run_twice, "/bin/bash", tmp_path / "script").splitlines()[-1] == "00:00:07.70"
