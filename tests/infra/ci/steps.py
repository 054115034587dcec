"""Run a GitHub Action's steps or a GitLab job's scripts here, as their runners do.

`uses:` has a stand-in for `actions/upload-artifact` alone; `gh` and `curl` are programs that keep
comments.
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

__all__ = ["GitLabJob", "Runner"]

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


#: Keeps what is sent to a merge request.
_CURL = """#!/usr/bin/env python3
import os, pathlib, sys
words = sys.argv[1:]
(body,) = [words[n + 1] for n, word in enumerate(words) if word == "--data-urlencode"]
name, _, file = body.partition("@")
kept = pathlib.Path(os.environ["GH_KEPT"])
(kept / "url").write_text(words[-1])
(kept / "note.md").write_text(pathlib.Path(file).read_text())
"""


def _furnish(place: Path) -> None:
    """Make the folders of a machine below `place`, and the few programs that it has."""
    for name in ("home", "bin", "workspace", "temp", "comments", "artifact"):
        (place / name).mkdir()
    for name in _PROGRAMS:
        if found := shutil.which(name):
            (place / "bin" / name).symlink_to(found)
    (place / "bin" / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    for name, text in (("gh", _GH), ("curl", _CURL)):
        (place / "bin" / name).write_text(text)
        (place / "bin" / name).chmod(0o755)


def _bare(place: Path) -> dict[str, str]:
    """Return the environment of a machine below `place`; only the registries are as here."""
    passed_on = {k: v for k, v in os.environ.items() if k.startswith(_PASSED_ON)}
    return {
        **passed_on,
        # As on the runners' machines, Go's caches are not empty.
        "GOCACHE": str(Path.home() / ".cache/go-build"),
        "GOMODCACHE": str(Path.home() / "go/pkg/mod"),
        "HOME": str(place / "home"), "PATH": str(place / "bin"), "LANG": "C.UTF-8",
        "GH_KEPT": str(place / "comments"), "CI": "true",
    }  # fmt: skip


class GitLabJob:
    """The one job of a component: its scripts in a bare folder, with `inputs` put in."""

    def __init__(self, component: Path, place: Path, inputs: Mapping[str, str]) -> None:
        header, body = component.read_text().split("\n---\n")
        usual = load_yaml(header)["spec"]["inputs"]
        values = {name: str(each.get("default", "")) for name, each in usual.items()} | dict(inputs)
        filled = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: values[match[1]], body)
        (self.job,) = load_yaml(filled).values()
        self.place, self.said = place, ""
        _furnish(place)

    def run(self, variables: Mapping[str, str]) -> int:
        """Run the script, and after it the other one whatever became of the first."""
        code = self._shell([*self.job["before_script"], *self.job["script"]], variables)
        self._shell(self.job["after_script"], variables)
        return code

    def _shell(self, lines: list[str], variables: Mapping[str, str]) -> int:
        own = {name: str(value) for name, value in self.job["variables"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", "\n".join(lines)],
            env={**_bare(self.place), **own, **variables}, cwd=self.place / "workspace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        self.said += done.stdout
        return done.returncode


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
        _furnish(self.place)

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
        own = {name: self._text(str(value)) for name, value in step.get("env", {}).items()}
        return {
            **_bare(self.place), "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.place / "summary.md"), **own,
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
            "github.run_number": "214", "github.repository": "shop/orders",
            "github.token": "token-of-the-job",
        }[name]  # fmt: skip

    def _holds(self, condition: str) -> bool:
        return all(self._part_holds(part.strip()) for part in condition.split("&&"))

    def _part_holds(self, part: str) -> bool:
        if part.endswith("()"):
            going = not self.failed and not self.cancelled
            return {"always()": True, "success()": going, "cancelled()": self.cancelled}[part]
        name, sign, value = re.fullmatch(r"(\S+) (==|!=) '(.*)'", part).groups()  # type: ignore[union-attr]
        return (str(self._name(name)) == value) is (sign == "==")
