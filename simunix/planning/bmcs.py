"""Plan baseboard management controllers (BMCs): hosts on which OpenIPMI's ipmi_sim answers IPMI requests about another
host.

ipmi_sim is a real program: `ipmitool -I lanplus` talks to it over the emulated network. To act on the other host,
ipmi_sim calls a script. The script writes to files that switch that host on and off
(rsg_server/power_files/switches.py).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.ranges import fold_hosts
from simunix.roots.tree import RootTree
from simunix.scenario.power_section import BmcSection

FOLDER = "/run/bmc"
WIRES = "/run/simunix/power"
PROGRAM = "ipmi_sim"
ADDRESS = "0x20"
SENSOR = b"Power"
LAN = """name "{name}"
set_working_mc {address}
  startlan 1
    addr 0.0.0.0 623
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid {guid}
  endlan
  chassis_control "{folder}/chassis {address}"
  user 1 false "" "" user 10 none md2 md5 straight
  user 2 true "{user}" "{password}" admin 10 none md2 md5 straight
"""
CONTROLLER = """mc_setbmc {address}
mc_add {address} 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable {address} 1000 0x0a
sensor_add {address} 0 1 0x0b 0x01 poll 1000 file "{wires}/watts" mult={factor} div={step}
sensor_set_event_support {address} 0 1 enable scanning per-state {none} {none} {none} {none}
main_sdr_add {address} {record}
mc_enable {address}
"""
CHASSIS = """#!/bin/sh
# Called by ipmi_sim: what the chassis is asked for goes to the wires of the host. Boot devices are taken, and mean nothing.
operation=$2
shift 2
if [ "$operation" = get ]; then
    for word; do
        case $word in
            power) read -r state <{wires}/state; if [ "$state" = off ]; then echo power:0; else echo power:1; fi ;;
            *) echo "$word:default" ;;
        esac
    done
fi
while [ "$operation" = set ] && [ $# -gt 1 ]; do
    case "$1 $2" in
        "power 0") echo off >{wires}/state ;;
        "power 1") echo on >{wires}/state ;;
        "reset "*) echo cycle >{wires}/state ;;
        "shutdown "*) echo shutdown >{wires}/state ;;
    esac
    shift 2
done
exit 0
"""
WORD = re.compile(r"[!-~]{1,16}")
"""The pattern of a user or password of IPMI 1.5 that ipmi_sim accepts."""


@dataclass(frozen=True, slots=True)
class Bmcs:
    """The parts that BMCs add to a plan. `wires` lists, for each BMC's host, the hosts whose power files it has."""

    wires: Mapping[str, tuple[str, ...]]
    private: Mapping[str, tuple[PrivateSpec, ...]]
    files: tuple[FileSpec, ...]
    processes: tuple[ProcessSpec, ...]


def plan_bmcs(
    sections: Sequence[BmcSection], hosts: Mapping[str, Host], roots: Mapping[str, RootTree], path: str, checked: bool
) -> Bmcs:
    """Plan the BMCs of all sections. The text of a SimunixError begins with the wrong key."""
    pairs: dict[str, tuple[BmcSection, str]] = {}
    for index, section in enumerate(sections):
        key = f"bmcs[{index}]"
        _check(section, key, hosts)
        for bmc, host in zip(section.name, section.hosts, strict=True):
            taken = [*pairs, *(other for _, other in pairs.values())]
            if bmc in taken or host in taken or bmc == host:
                raise SimunixError(f"{key}: {bmc} for {host}: one of them is a BMC or has one already; choose other hosts")
            problem = check_program(PROGRAM, path, "/", roots[bmc], None) if checked else None
            if problem is not None:
                raise SimunixError(f"{key}: {problem}; Debian's package openipmi has it")
            pairs[bmc] = section, host
    return Bmcs(
        {bmc: (host,) for bmc, (_, host) in pairs.items()},
        {bmc: (PrivateSpec(FOLDER),) for bmc in pairs},
        tuple(file for bmc, (section, host) in pairs.items() for file in _files(section, bmc, hosts[host])),
        tuple(_process(bmc) for bmc in pairs),
    )


def _check(section: BmcSection, key: str, hosts: Mapping[str, Host]) -> None:
    for field, names in (("name", section.name), ("hosts", section.hosts)):
        for name in names:
            if name not in hosts:
                raise SimunixError(f"{key}.{field}: {name!r} is not among the hosts; known: {fold_hosts(list(hosts))}")
    if len(section.name) != len(section.hosts):
        raise SimunixError(f"{key}: {len(section.name)} BMCs for {len(section.hosts)} hosts; give each host one")
    for field, word in (("user", section.user), ("password", section.password)):
        if not WORD.fullmatch(word) or '"' in word or "\\" in word:
            raise SimunixError(f"{key}.{field}: expected 1 to 16 letters, digits or signs, got {word[:40]!r}")


def _process(bmc: str) -> ProcessSpec:
    argv = (PROGRAM, "-n", "-p", "-c", f"{FOLDER}/lan.conf", "-f", f"{FOLDER}/controller", "-s", f"{FOLDER}/state")
    return ProcessSpec("bmc", bmc, argv, serves=True)


def _files(section: BmcSection, bmc: str, host: Host) -> tuple[FileSpec, ...]:
    wires = f"{WIRES}/{host.name}"
    factor, step, exponent = scale(max((state.full_w for state in host.power.states), default=0.0) if host.power else 0.0)
    guid = hashlib.md5(host.name.encode(), usedforsecurity=False).hexdigest()  # without a GUID, ipmi_sim offers no RMCP+
    lan = LAN.format(name=bmc, address=ADDRESS, folder=FOLDER, guid=guid, user=section.user, password=section.password)
    record = " ".join(hex(byte) for byte in sensor_record(step, exponent))
    none = "0" * 15
    controller = CONTROLLER.format(address=ADDRESS, wires=wires, factor=factor, step=step, none=none, record=record)
    return (
        FileSpec(bmc, f"{FOLDER}/lan.conf", lan.encode()),
        FileSpec(bmc, f"{FOLDER}/controller", controller.encode()),
        FileSpec(bmc, f"{FOLDER}/chassis", CHASSIS.replace("{wires}", wires).encode(), mode=0o755),
    )


def scale(most_w: float) -> tuple[int, int, int]:
    """Return the numbers by which a sensor's byte encodes watts: the byte is watts times the first number, divided by
    the second.

    One unit of the byte is the second number times ten to the power of the third.
    """
    for factor, exponent in ((100, -2), (10, -1)):
        step = int(most_w * factor / 255) + 1
        if step <= 511:  # the field has ten bits with a sign
            return factor, step, exponent
    return 1, min(int(most_w / 255) + 1, 511), 0


def sensor_record(step: int, exponent: int) -> bytes:
    """Make the sensor data record of a power meter: type 1 of IPMI 2.0, 43.1."""
    head = bytes([0x20, 0, 1, 7, 1, 0x7F, 0x68, 0x0B, 1]) + bytes(6)  # owner, number, entity; threshold of other units
    units = bytes([0, 6, 0, 0])  # unsigned, watts, linear
    factors = bytes([step & 0xFF, (step >> 8) << 6, 0, 0, 0, (exponent & 0xF) << 4])
    limits = bytes([0, 0, 0, 0, 0xFF, 0]) + bytes(6) + bytes(5)
    body = head + units + factors + limits + bytes([0xC0 | len(SENSOR)]) + SENSOR
    return bytes([0, 0, 0x51, 1, len(body)]) + body
