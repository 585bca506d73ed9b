"""A toy RJMS in a hundred lines: a controller that starts jobs first come, first served, and an agent on each node.

Installed under the name of each of its commands: toyd NODE:CORES..., toynoded, toysub, toystat, toyrls.
"""

import argparse
import getpass
import json
import os
import socket
import sys
import time

if os.path.basename(sys.argv[0]) in ("toyd", "toynoded"):  # the many clients start sooner without it
    import asyncio

CONTROLLER_PORT, NODE_PORT = 7001, 7002
RECORDS = "/var/lib/toy/jobs"


class Controller:
    def __init__(self, nodes):
        self.free = {name: int(cores) for name, cores in (node.split(":") for node in nodes)}
        self.total = sum(self.free.values())
        self.jobs, self.tasks, self.submitted = {}, set(), 0  # jobs by NUMBER, or NUMBER_INDEX of an array's element

    def submit(self, count, **job):
        if job["cores"] > self.total:
            return f"{job['cores']} cores wanted, the cluster has {self.total}"
        self.submitted += 1
        for number in [str(self.submitted)] if count is None else [f"{self.submitted}_{index}" for index in range(count)]:
            self.jobs[number] = {**job, "number": number, "state": "PENDING", "submit": time.time()}
        return self.submitted

    def release(self, numbers):
        for job in self.jobs.values():
            job["hold"] = job["hold"] and job["number"] not in numbers

    def status(self):
        return list(self.jobs.values())

    def may_start(self, job):
        needed = [other for other in self.jobs.values() if job["after"] and other["number"].split("_")[0] == job["after"]]
        return job["state"] == "PENDING" and not job["hold"] and all("end" in other for other in needed)

    def schedule(self):
        for job in filter(self.may_start, self.jobs.values()):
            if job["cores"] > sum(self.free.values()):
                return
            left, job["places"], job["state"], job["start"] = job["cores"], {}, "RUNNING", time.time()
            for node in self.free:
                if taken := min(left, self.free[node]):
                    job["places"][node] = taken
                    self.free[node], left = self.free[node] - taken, left - taken
            self.tasks.add(asyncio.ensure_future(self.run(job)))

    async def run(self, job):
        try:
            reader, writer = await asyncio.open_connection(next(iter(job["places"])), NODE_PORT)
            writer.write(json.dumps(job).encode() + b"\n")
            job["state"] = (await reader.readline()).decode().strip() or "NODE_FAIL"
            writer.close()
        except OSError:
            job["state"] = "NODE_FAIL"
        job["end"] = time.time()
        for node, cores in job["places"].items():
            self.free[node] += cores
        with open(RECORDS, "a") as records:
            print(json.dumps(job), file=records)
        self.schedule()

    async def answer(self, reader, writer):
        ask, words = json.loads(await reader.readline())
        writer.write(json.dumps(getattr(self, ask)(**words)).encode() + b"\n")
        writer.close()
        self.schedule()


async def carry_out(reader, writer):
    job = json.loads(await reader.readline())
    process = await asyncio.create_subprocess_exec(*job["argv"])
    try:
        state = "FAILED" if await asyncio.wait_for(process.wait(), job["limit"]) else "COMPLETED"
    except TimeoutError:
        process.kill()
        state = "TIMEOUT"
    writer.write(state.encode() + b"\n")
    writer.close()


async def serve(answer, port):
    await (await asyncio.start_server(answer, port=port, family=socket.AF_INET)).serve_forever()


def ask(what, **words):
    with socket.create_connection((os.environ["TOY_CONTROLLER"], CONTROLLER_PORT)) as connection:
        connection.sendall(json.dumps([what, words]).encode() + b"\n")
        return json.loads(connection.makefile().read())


def submit(words):
    parser = argparse.ArgumentParser()
    for name, type in (("name", str), ("cores", int), ("limit", float), ("after", str), ("count", int)):
        parser.add_argument(f"--{name}", type=type)
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("argv", nargs="+")
    reply = ask("submit", user=getpass.getuser(), **vars(parser.parse_args(words)))
    print(reply) if isinstance(reply, int) else sys.exit(reply)


def status(words):
    """toystat FORMAT [WORD=VALUE...]: one line for each job, of all that have not ended if none is asked for by WORD."""
    wanted = [word.split("=") for word in words[1:]]
    for job in ask("status"):
        if all(str(job.get(name)) in values.split(",") for name, values in wanted) if wanted else "end" not in job:
            print(words[0].format(**job))


COMMANDS = {
    "toyd": lambda words: asyncio.run(serve(Controller(words).answer, CONTROLLER_PORT)),
    "toynoded": lambda words: asyncio.run(serve(carry_out, NODE_PORT)),
    "toysub": submit,
    "toystat": status,
    "toyrls": lambda words: ask("release", numbers=words),
}
COMMANDS[os.path.basename(sys.argv[0])](sys.argv[1:])
