"""asyncio: sleeps side by side, a TCP server and its clients, a subprocess, a timeout."""

# virtual: 10
import asyncio
import contextlib
import time


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        await asyncio.sleep(1)
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(port: int, text: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text.encode() + b"\n")
    answer = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return answer.decode().strip()


async def main() -> None:
    start_s = time.monotonic()
    await asyncio.gather(*(asyncio.sleep(delay_s) for delay_s in (1, 2, 3)))
    assert 3 <= time.monotonic() - start_s < 3.5
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert await asyncio.gather(*(ask(port, text) for text in ("a", "b", "c"))) == ["A", "B", "C"]
    assert 4 <= time.monotonic() - start_s < 4.5
    server.close()
    process = await asyncio.create_subprocess_exec("sleep", "3")
    assert await process.wait() == 0
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 3)
    assert 10 <= time.monotonic() - start_s < 10.5


asyncio.run(main())
print("EXIT-SUCCESS")
