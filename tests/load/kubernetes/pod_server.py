"""A loopback server of what an API server offers of one pod: attach and exec.

It speaks the channel protocol (v5.channel.k8s.io, and v4) and runs real processes; it is a
stand-in for an API server and a kubelet where only the streams matter. The real API server has its
own tests, marked `kubernetes`.
"""

import asyncio
import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import yaml
from aiohttp import WSMsgType, web

from brownout.kubernetes.access import Access
from brownout.load.kubernetes.manifest import DEPOT

STDIN, STDOUT, STDERR, ERROR, CLOSE = 0, 1, 2, 3, 255


class PodServer:
    """One pod: `main` is its own process, attached to once; `depot` is what is mounted there.

    `damage` is what happens to output on its way; `cut()` drops every connection.
    """

    def __init__(
        self,
        directory: Path,
        main: list[str] | None = None,
        protocols: tuple[str, ...] = ("v5.channel.k8s.io", "v4.channel.k8s.io"),
    ) -> None:
        self.depot = directory / "depot"
        self.damage: Callable[[bytes], bytes] = lambda data: data
        self._protocols, self._sockets = protocols, list[web.WebSocketResponse]()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        pipe = subprocess.PIPE
        self.main = (
            subprocess.Popen(main, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
            if main
            else None
        )
        port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(30)
        self.access = Access(kubeconfig=_kubeconfig(directory, port), namespace="load")

    async def _listen(self) -> int:
        application = web.Application()
        pod = "/api/v1/namespaces/load/pods/{pod}"
        application.router.add_get(f"{pod}/attach", self._attach)
        application.router.add_get(f"{pod}/exec", self._exec)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def _attach(self, request: web.Request) -> web.StreamResponse:
        if not self.main:
            problem = {"kind": "Status", "message": 'pods "load-0" is forbidden: not you'}
            return web.json_response(problem, status=403)
        return await self._serve(request, self.main)

    async def _exec(self, request: web.Request) -> web.StreamResponse:
        command = [word.replace(DEPOT, str(self.depot)) for word in request.query.getall("command")]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
            return await self._serve(request, process)

    async def _serve(
        self, request: web.Request, process: subprocess.Popen[bytes]
    ) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=self._protocols)
        await socket.prepare(request)
        self._sockets.append(socket)
        feeding = asyncio.create_task(self._feed(socket, process))
        await asyncio.gather(
            self._pump(socket, STDOUT, process.stdout), self._pump(socket, STDERR, process.stderr)
        )
        code = await self._loop.run_in_executor(None, process.wait)
        if not socket.closed:
            await socket.send_bytes(bytes([ERROR]) + json.dumps(_status(code)).encode())
            await socket.close()
        await feeding
        return socket

    async def _feed(self, socket: web.WebSocketResponse, process: subprocess.Popen[bytes]) -> None:
        """Hand input on until it ends, or the connection does: as with `stdinOnce`."""
        assert process.stdin is not None
        async for message in socket:
            assert message.type is WSMsgType.BINARY
            if message.data[0] == CLOSE:
                break
            assert message.data[0] == STDIN
            await self._loop.run_in_executor(None, process.stdin.write, message.data[1:])
        process.stdin.close()
        async for _ in socket:  # until the other end has had enough
            pass

    async def _pump(self, socket: web.WebSocketResponse, channel: int, pipe: Any) -> None:
        while data := await self._loop.run_in_executor(None, pipe.read, 1 << 15):
            if not socket.closed:
                await socket.send_bytes(bytes([channel]) + self.damage(data))

    def cut(self) -> None:
        """Drop every connection, without a word."""
        for socket in self._sockets:
            transport = socket._req.transport if socket._req else None
            if transport:
                self._loop.call_soon_threadsafe(transport.abort)

    def close(self) -> None:
        """End the process and the server."""
        if self.main:
            self.main.kill()
            self.main.wait()
        self.cut()
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()
        for pipe in (self.main.stdin, self.main.stdout, self.main.stderr) if self.main else ():
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _status(code: int) -> dict[str, Any]:
    """Return how a command ended as the kubelet says it (remotecommand, v4 and newer)."""
    if not code:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}


def _kubeconfig(directory: Path, port: int) -> Path:
    path = directory / "kubeconfig"
    path.parent.mkdir(parents=True, exist_ok=True)
    named = {"name": "loopback"}
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "loopback",
                "clusters": [{**named, "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                "users": [{**named, "user": {"token": "hush"}}],
                "contexts": [{**named, "context": {"cluster": "loopback", "user": "loopback"}}],
            }
        )
    )
    return path
