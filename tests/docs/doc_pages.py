"""A page whose blocks are run in order, in a folder of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from doc_blocks import Block, blocks
from doc_output import difference
from doc_projects import environment, prepare, services
from doc_shell import Python, Ran, Shell, Step, bash_steps, console_steps

from mneme.deploy.tuned_file import read_tuned_file

_UNTUNED = re.compile(r"^mneme: .*\bas (?:it was|they were) built")
_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(page LANGUAGES {languages})
set(CMAKE_CUDA_STANDARD 20)
"""


class AlreadyToldError(Exception):
    """An earlier block of the page failed, which it names."""


class PageRun:
    """The state of a page: its folder, its shell, its Python."""

    def __init__(self, page: Path, folder: Path) -> None:
        """Prepare the folder; `folder` itself holds what the page does not see."""
        self._page = page
        self._scratch = folder
        self._home = folder / "home"
        self._home.mkdir()
        self.folder = folder / "app"
        self.folder.mkdir()
        prepare(page, self.folder)
        self._services = services(page, self.folder)
        self._done: dict[int, str] = {}
        self._told: set[str] = set()
        self._evaluators: dict[str, Callable[[Block], str]] = {
            "bash": lambda block: self._run_steps(block, bash_steps(block.shortened())),
            "console": lambda block: self._run_steps(block, console_steps(block.shortened())),
            "python": self._run_python,
            "cmake": self._run_cmake,
            "json": self._read_json,
            "yaml": self._read_yaml,
        }

    @cached_property
    def _shell(self) -> Shell:
        is_bare = self._page.name == "gpu-nodes.md"
        return Shell(self.folder, environment(self._home, is_bare=is_bare), self._scratch)

    @cached_property
    def _python(self) -> Python:
        return Python(self.folder, environment(self._home), self._scratch)

    def run(self, block: Block) -> str:
        """Run a block and those before it that have not run; say what is wrong with the first.

        Raises:
            AlreadyToldError: If that is another block, and was said before.
        """
        for each in blocks(self._page):
            if each.line <= block.line and each.is_run:
                if each.line not in self._done:
                    self._done[each.line] = self._evaluate(each)
                if self._done[each.line]:
                    if each.name in self._told and each != block:
                        raise AlreadyToldError(each.name)
                    self._told.add(each.name)
                    return f"{each.name}: {self._done[each.line]}"
        return ""

    def close(self) -> None:
        """End the processes of the page."""
        for worker in ("_shell", "_python"):
            if worker in vars(self):
                vars(self)[worker].close()
        for service in self._services:
            service.terminate()
            service.wait(30)

    def _evaluate(self, block: Block) -> str:
        name = block.directive("file")
        if name:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = block.shortened()
            path.write_text(_with_project(text) if path.name == "CMakeLists.txt" else text)
            if block.language != "python":
                return ""
        if block.language in ("text", "jinja"):
            return ""
        return self._evaluators[block.language](block)

    def _run_steps(self, block: Block, steps: list[Step]) -> str:
        assert steps, f"{block.name}: no command"
        expected = [0] * (len(steps) - 1) + [int(block.directive("exit code") or 0)]
        for step, code in zip(steps, expected, strict=True):
            ran = self._shell.run(step.command)
            where = f"line {block.first_line + step.line}: {step.command}"
            if ran.code != code:
                return f"{where}\nexit code {ran.code}, not {code}\n{_printed(ran)}"
            problem = difference(step.shown, ran.stdout, ran.stderr) or _complaint(ran)
            if problem:
                return f"{where}\n{problem}\n{_printed(ran)}"
        return ""

    def _run_python(self, block: Block) -> str:
        ran = self._python.run(block.shortened(), block.page.name, block.first_line)
        if ran.code:
            return _printed(ran)
        promised = [
            line.rpartition("  # prints ")[2]
            for line in block.text.splitlines()
            if "  # prints " in line
        ]
        printed = ran.stdout.splitlines()
        return "".join(f"not printed: {line}\n" for line in promised if line not in printed)

    def _run_cmake(self, block: Block) -> str:
        if block.directive("file"):
            return ""
        folder = self._scratch / f"cmake-{block.line}"
        shutil.copytree(self.folder, folder, symlinks=True, ignore=shutil.ignore_patterns("build"))
        (folder / "CMakeLists.txt").write_text(_with_project(block.shortened()))
        steps = [
            "cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release $(mneme config cmake-args)"
        ]
        if not block.directive("built by"):
            steps.append("ninja -C build")
        ran = self._shell.run(f"(cd '{folder}' && {' && '.join(steps)})")
        return _printed(ran) if ran.code else ""

    def _read_json(self, block: Block) -> str:
        try:
            value = json.loads(block.text)
        except ValueError as error:
            return str(error)
        if not all("CodeGen" in entry for entry in value.values()):
            return "this is none of mneme's formats"
        path = self._scratch / "shown.json"
        path.write_text(block.text)
        return "" if read_tuned_file(path) else "no kernels are read"

    def _read_yaml(self, block: Block) -> str:
        value: dict[str, Any] = yaml.safe_load(block.text)
        # Spack's files: an environment, whose parts may be those of other files, and packages.yaml.
        value = value.get("spack", value)
        if not value.keys() <= {"specs", "view", "develop", "repos", "packages", "concretizer"}:
            return "this is none of the formats that are known; give it a 'file' and a command"
        packages = value.get("packages", {}).values()
        externals = [each for entry in packages for each in entry.get("externals", [])]
        return "" if all({"spec", "prefix"} <= set(each) for each in externals) else "no externals"


def _complaint(ran: Ran) -> str:
    """Find a message that the exit code of a program does not tell of."""
    complaints = [line for line in ran.stderr.splitlines() if _UNTUNED.search(line)]
    return complaints[0] if complaints else ""


def _with_project(text: str) -> str:
    if "project(" in text:
        return text
    return _PROJECT.format(languages="CXX CUDA" if ".cu" in text else "CXX") + text


def _printed(ran: Ran) -> str:
    return "\n".join(text[-4000:] for text in (ran.stdout, ran.stderr) if text)
