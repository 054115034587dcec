"""Run the steps of a composite GitHub Action here, as a runner does: bash, outputs, conditions.

`uses:` has a stand-in for `actions/upload-artifact` alone; `gh` is a program that keeps comments.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brownout.base.settings_file import load_yaml

__all__ = ["Runner"]

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
#: All that a runner's machine has for the steps; everything else is in the folder of the test.
_PROGRAMS = ("bash", "cat", "head", "mkdir", "rm", "sh", "go", "uname", "env", "getconf",
             "redis-server", "nproc")  # fmt: skip
#: How this machine reaches its package registries.
_PASSED_ON = ("PIP_", "GO", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
              "no_proxy", "SSL_CERT", "REQUESTS_CA", "UV_")  # fmt: skip
#: Keeps comments as files, and answers `gh api` as GitHub does to what the Action asks.
_GH = """#!/usr/bin/env python3
import os, pathlib, sys
kept = pathlib.Path(os.environ["GH_KEPT"])
words = sys.argv[1:]
where = next(word for word in words if word.startswith("repos/"))
with open(kept / "calls", "a") as calls:
    print(where, "PATCH" if "PATCH" in words else "", file=calls)
if "--jq" in words:
    for path in sorted(kept.glob("*.md")):
        if path.read_text().startswith(os.environ["MARK"]):
            print(path.stem)
else:
    body = next(word for word in words if word.startswith("body=")).removeprefix("body=")
    name = where.rpartition("/")[2] if "PATCH" in words else "4711"
    (kept / f"{name}.md").write_text(body)
"""


@dataclass
class Runner:
    """A machine of its own below `place`: HOME, PATH, a workspace and a temporary folder."""

    action: Path
    place: Path
    inputs: dict[str, str]
    event: str = "pull_request"
    #: Called while each step runs; it returns True to cancel the job.
    cancels: Callable[[str], bool] = lambda name: False
    codes: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    said: str = ""
    cancelled: bool = False

    def __post_init__(self) -> None:
        document = load_yaml(self.action.read_text())
        self.steps: list[dict[str, Any]] = document["runs"]["steps"]
        usual = {name: str(each.get("default", "")) for name, each in document["inputs"].items()}
        self.inputs = {**usual, **self.inputs}
        for name in ("home", "bin", "workspace", "temp", "comments", "artifact"):
            (self.place / name).mkdir()
        for name in _PROGRAMS:
            if found := shutil.which(name):
                (self.place / "bin" / name).symlink_to(found)
        (self.place / "bin" / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
        gh = self.place / "bin" / "gh"
        gh.write_text(_GH)
        gh.chmod(0o755)

    @property
    def temp(self) -> Path:
        """`runner.temp`."""
        return self.place / "temp"

    @property
    def failed(self) -> bool:
        """Whether the job fails."""
        return any(self.codes.values())

    def run(self, *names: str) -> None:
        """Run these steps, or all; one that fails skips those without a condition of their own."""
        for step in self.steps:
            name = step.get("name", "")
            if names and name not in names:
                continue
            condition = step.get("if", "success()")
            if "always()" not in condition:
                condition = f"success() && {condition}"
            if self._holds(condition):
                if "run" in step:
                    self.codes[name] = self._bash(name, step)
                elif step["uses"].startswith("actions/upload-artifact@"):
                    self._upload(step["with"])

    def _bash(self, name: str, step: Mapping[str, Any]) -> int:
        output, script = self.place / "output", self.place / "script.sh"
        output.write_text("")
        script.write_text(self._text(step["run"]))
        words = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        process = subprocess.Popen(
            words, env=self._environment(step, output), cwd=self.place / "workspace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        # As GitHub's runner cancels: the shell is told twice, then all that it left is killed.
        due: list[tuple[float, Callable[[], None]]] = []
        while True:
            try:
                told, _ = process.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                if not self.cancelled and self.cancels(name):
                    self.cancelled = True
                    due = [(now, lambda: process.send_signal(signal.SIGINT)),
                           (now + 7.5, lambda: process.send_signal(signal.SIGTERM)),
                           (now + 10, self._kill_all)]  # fmt: skip
                while due and due[0][0] <= now:
                    due.pop(0)[1]()
        if self.cancelled and due:
            self._kill_all()
        self.said += f"\n## {name}\n{told}"
        if "id" in step:
            pairs = (line.partition("=") for line in output.read_text().splitlines())
            self.outputs[step["id"]] = {key: value for key, _, value in pairs}
        return process.returncode

    def _kill_all(self) -> None:
        """Kill every process of the job, which its environment shows, as the runner does."""
        mark = f"GITHUB_OUTPUT={self.place / 'output'}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)

    def _environment(self, step: Mapping[str, Any], output: Path) -> dict[str, str]:
        passed_on = {k: v for k, v in os.environ.items() if k.startswith(_PASSED_ON)}
        own = {name: self._text(str(value)) for name, value in step.get("env", {}).items()}
        return {
            **passed_on,
            # As on GitHub's machines, Go's caches are not empty.
            "GOCACHE": str(Path.home() / ".cache/go-build"),
            "GOMODCACHE": str(Path.home() / "go/pkg/mod"),
            "HOME": str(self.place / "home"), "PATH": str(self.place / "bin"), "LANG": "C.UTF-8",
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.place / "summary.md"),
            "GH_KEPT": str(self.place / "comments"), "CI": "true", **own,
        }  # fmt: skip

    def _upload(self, given: Mapping[str, str]) -> None:
        for pattern in self._text(given["path"]).split():
            path = Path(pattern)
            for file in sorted(Path("/").glob(str(path.relative_to("/")))):
                target = self.place / "artifact" / file.relative_to(self.temp)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)

    def _text(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: str(self._value(match[1])), text)

    def _value(self, expression: str) -> Any:
        for each in expression.split("||"):
            if value := self._name(each.strip()):
                return value
        return ""

    def _name(self, name: str) -> Any:
        head, _, rest = name.partition(".")
        if head == "inputs":
            return self.inputs[rest]
        if head == "steps":
            step, _, output = rest.partition(".outputs.")
            return self.outputs.get(step, {}).get(output, "")
        return {
            "runner.temp": str(self.temp), "github.action_path": str(self.action.parent),
            "github.event_name": self.event, "github.event.number": "17",
            "github.repository": "shop/orders", "github.token": "token-of-the-job",
        }[name]  # fmt: skip

    def _holds(self, condition: str) -> bool:
        return all(self._part_holds(part.strip()) for part in condition.split("&&"))

    def _part_holds(self, part: str) -> bool:
        if part.endswith("()"):
            going = not self.failed and not self.cancelled
            return {"always()": True, "success()": going, "cancelled()": self.cancelled}[part]
        name, sign, value = re.fullmatch(r"(\S+) (==|!=) '(.*)'", part).groups()  # type: ignore[union-attr]
        return (str(self._name(name)) == value) is (sign == "==")
