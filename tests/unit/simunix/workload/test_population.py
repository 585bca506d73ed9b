"""Users and groups of a trace as users of hosts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simunix.workload.job import Job
from simunix.workload.population import FIRST_ID, NO_PEOPLE, etc_files, population, together


def job(user: int, group: int) -> Job:
    return Job(1, 0, 1, 1, 1, user, group)


def test_everybody_has_a_name_a_number_and_groups() -> None:
    people = population([job(7, 2), job(3, -1), job(7, 1), job(-1, 4), job(7, 2)])
    assert {name: (user.name, user.uid) for name, user in people.users.items()} == {
        "user3": ("user3", FIRST_ID),
        "user7": ("user7", FIRST_ID + 1),
    }
    assert people.groups == {"group1": FIRST_ID, "group2": FIRST_ID + 1}
    assert people.users["user7"].groups == (FIRST_ID, FIRST_ID + 1)
    assert people.users["user3"].groups == (FIRST_ID + 2,)  # his own
    assert people.members == {"group1": ("user7",), "group2": ("user7",)}


def test_files_keep_what_is_there_but_for_the_same_name() -> None:
    people = population([job(3, 5)])
    files = etc_files(people, "root:x:0:0::/root:/bin/sh\nuser3:x:7:7::/:/bin/sh\n", "root:x:0:\n")
    assert files["passwd"].decode() == (f"root:x:0:0::/root:/bin/sh\nuser3:x:{FIRST_ID}:{FIRST_ID}:of the trace:/:/bin/sh\n")
    assert files["group"].decode() == f"root:x:0:\ngroup5:x:{FIRST_ID}:user3\n"


@given(st.lists(st.tuples(st.integers(-1, 9), st.integers(-1, 5)), max_size=30), st.integers(0, 30))
def test_two_workloads_have_the_users_of_one(pairs: list[tuple[int, int]], cut: int) -> None:
    jobs = [job(*pair) for pair in pairs]
    whole = population(jobs)
    assert together([population(jobs[:cut]), population(jobs[cut:])]) == whole
    assert together([whole, NO_PEOPLE]) == whole
    files = etc_files(whole, "", "")
    passwd = [line.split(":") for line in files["passwd"].decode().splitlines() if line]
    assert len({fields[0] for fields in passwd}) == len(passwd)
    gids = {line.split(":")[2] for line in files["group"].decode().split() if ":" in line}
    assert {str(user.groups[0]) for user in whole.users.values()} <= gids
