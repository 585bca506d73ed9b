"""Programs inside set frequencies and limits, and read joules: with plain files, cpupower and the tools of powercap."""

from __future__ import annotations

import csv
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import Run, run

NEEDED = [name for name in ("cpupower", "powercap-info", "powercap-set") if shutil.which(name) is None]
SCENARIO = """
name: power-files
hosts:
  - {{name: a, cores: 4, sockets: 2, speed: [2Gf, 1.5Gf, 1Gf], wattage_per_state: ["100:100:200", "90:90:150", "80:80:110"]}}
  - {{name: b, cores: 4}}
processes:
  - {{name: p, host: {host}, command: [{program}, {script}]}}
"""
COMPUTE = """
import ctypes, os, time
POLICY = "/sys/devices/system/cpu/cpu3/cpufreq"
PACKAGE = "/sys/class/powercap/intel-rapl:0"

def compute():
    flops, begin = ctypes.c_uint64(2_000_000_000), time.monotonic()
    assert ctypes.CDLL(None).prctl(0x53494d01, ctypes.byref(flops)) == 0
    return round(time.monotonic() - begin, 3)

def read(path):
    with open(path) as file:
        return file.read().strip()

def write(path, text):
    with open(path, "w") as file:
        file.write(text)

def joules():
    return int(read(f"{PACKAGE}/energy_uj")) * 2 / 1e6
"""
FILES = (
    COMPUTE
    + """
before = joules()
print(compute(), round(joules() - before))
write(f"{POLICY}/scaling_governor", "userspace")
write(f"{POLICY}/scaling_setspeed", "1000000")
print(compute(), round(joules() - before), read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"))
write(f"{POLICY}/scaling_governor", "performance")
write(f"{PACKAGE}/constraint_0_power_limit_uw", "55000000")  # 110 W in all
print(compute(), read(f"{POLICY}/scaling_cur_freq"))
try:
    write(f"{POLICY}/scaling_governor", "turbo")
except OSError as error:
    print(error.strerror)
with open(f"{PACKAGE}/energy_uj") as counter:  # a monitor that keeps its files open
    first = int(counter.read())
    time.sleep(10)
    counter.seek(0)
    print((int(counter.read()) - first) // 10**6, (int(os.pread(counter.fileno(), 30, 0)) - first) // 10**6)
with open("/dev/cpu/0/msr", "rb", 0) as registers:
    registers.seek(0x611)
    one, other = registers.read(8), os.pread(registers.fileno(), 8, 0x611)
    first, second = (int.from_bytes(each, "little") for each in (one, other))
    print(0 < first <= second <= first + 2)  # a unit is 61 uJ, which this socket draws in a microsecond
print(read("/sys/cray/pm_counters/power").split()[0], oct(os.stat(f"{PACKAGE}/energy_uj").st_mode))
os.setuid(65534)
for attempt in (lambda: write(f"{POLICY}/scaling_governor", "powersave"), joules):
    try:
        attempt()
    except PermissionError as error:
        print(error.strerror)
"""
)


def ran(simunix: Simunix, folder: Path, script: str, program: str = sys.executable, host: str = "a") -> Run:
    (folder / "script").write_text(script)
    (folder / "s.yaml").write_text(SCENARIO.format(program=program, script=folder / "script", host=host))
    return run(simunix, folder / "s.yaml", folder / "out")


@pytest.mark.skipif(os.geteuid() != 0, reason="without root hosts have only the files of cpufreq")
def test_frequencies_limits_and_counters_as_files(simunix: Simunix, tmp_path: Path) -> None:
    done = ran(simunix, tmp_path, FILES)
    assert done.output("a", "p").splitlines() == [
        "1.0 125",
        "2.0 300 1000000",  # half the speed takes twice the time, at 87.5 W
        "1.333 2000000",  # at 105 W with one of four cores, where the fastest state would draw 125 W; idle it draws 100 W
        "Invalid argument",
        "500 500",
        "True",
        "100 0o100400",
        "Permission denied",
        "Permission denied",
    ]
    with (done.out / "pstate_changes.csv").open(newline="") as file:
        assert [row["new_pstate"] for row in csv.DictReader(file) if row["machine_id"] == "0-3"] == ["0", "2", "1", "0"]


def test_a_host_without_watts_has_no_such_files(simunix: Simunix, tmp_path: Path) -> None:
    script = "ls -d /sys/devices/system/cpu/cpu0/cpufreq /sys/cray /dev/cpu 2>/dev/null | wc -l\n"
    assert ran(simunix, tmp_path, script, "/bin/sh", "b").output("b", "p").split() == ["0"]


@pytest.mark.slow
@pytest.mark.skipif(bool(NEEDED), reason=f"not installed: {', '.join(NEEDED)}")
def test_cpupower_and_powercap(simunix: Simunix, tmp_path: Path) -> None:
    script = """
        cpupower -c all frequency-set -f 1500MHz >/dev/null && cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq
        cpupower frequency-info | grep -E 'steps|governor|software'
        cpupower frequency-set -g powersave >/dev/null && cpupower frequency-info -f
        echo performance | tee /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor
        powercap-set -p intel-rapl -z 0 -c 0 -l 40000000 && powercap-info -p intel-rapl -z 0 -c 0 -l
        powercap-info -p intel-rapl -z 1 -j
        cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq
    """
    lines = ran(simunix, tmp_path, script, "/bin/bash").output("a", "p").splitlines()
    assert [line.strip() for line in lines] == [
        "1500000",
        "CPUs which need to have their frequency coordinated by software: 0 1 2 3",
        "available frequency steps:  2.00 GHz, 1.50 GHz, 1000 MHz",
        "available cpufreq governors: conservative ondemand userspace powersave performance schedutil",
        'The governor "userspace" may decide which speed to use',
        "analyzing CPU 0:",
        "current CPU frequency: 1000000 (asserted by call to kernel)",
        "performance",
        "40000000",
        lines[9].strip(),
        "1000000",  # 80 W in all
    ]
    assert int(lines[9]) == pytest.approx(60 * 50 * 10**6, rel=1e-4), "idle since the boot, a minute before the run"
