"""Tell what HIP's headers say of everything that mneme uses of HIP; needs no ROCm but the headers.

    scripts/hip_facts.py INCLUDE [--source TEXT] [--add FILE]

INCLUDE is a folder that holds `hip/hip_runtime_api.h`. What mneme uses is listed in
tests/unit/device_hip/names.inc. Prints one JSON object; with --add it is put into FILE
(tests/unit/device_hip/hip_facts.json), which `test_device_hip` compares with mneme's own
declarations. TEXT says where the headers come from.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "unit" / "device_hip"
_FUNCTIONS = {"DRIVER", "INTERPOSED", "RECORDER", "GRAPHS", "CHANGES", "TUNED"}
_ENTRY = re.compile(r"^([A-Z]+)\(([^,()]+)(?:, ([^,()]+))?", re.MULTILINE)
# What may be a result begins a word: looking for it inside of words takes a hundred times as long.
_DECLARATION = re.compile(r"\b((?:const\s+)?\w+\b[\s*]+)(hip\w+)\s*(\([^;{}]*?\))\s*;")
_HEADERS = "#include <hip/hip_runtime_api.h>\n#include <hip/hip_ext.h>\n"


def compiler() -> str:
    """Return a C++ compiler."""
    for name in ("clang++-22", "clang++", "g++"):
        if found := shutil.which(name):
            return found
    sys.exit("hip_facts: no C++ compiler found; install clang++ or g++")


def text_of(include: Path, *options: str) -> str:
    """Return the headers as the preprocessor leaves them."""
    command = [compiler(), "-E", "-P", "-x", "c++", *options, *flags(include), "-"]
    done = subprocess.run(command, input=_HEADERS, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"hip_facts: the headers in {include} cannot be read:\n{done.stderr}")
    return done.stdout


def flags(include: Path) -> list[str]:
    """Return what headers of AMD's HIP are compiled with."""
    return ["-std=c++20", "-D__HIP_PLATFORM_AMD__", "-D__HIP_PLATFORM_HCC__", f"-I{include}"]


def declarations_in(text: str) -> dict[str, str]:
    """Return the first declaration of each function, without what comes before its result."""
    found: dict[str, str] = {}
    for one in _DECLARATION.finditer(text):
        result, name, arguments = one.groups()
        found.setdefault(name, f"{result} {name}{arguments};")
    return found


def program_for(include: Path) -> str:
    """Return the source of a program that prints the facts, a line of JSON for each."""
    text, macros = text_of(include), text_of(include, "-dM")
    names = set(re.findall(r"\w+", text)) | set(re.findall(r"#define (\w+)", macros))
    declared = declarations_in(text)
    declarations, lines = [], []
    for kind, name, field in dict.fromkeys(_ENTRY.findall((FOLDER / "names.inc").read_text())):
        if kind in _FUNCTIONS:
            if declaration := declared.get(name):
                if declaration not in declarations:
                    declarations.append(declaration)
                lines.append(f'say("{name}", signature<decltype(&declared::{name})>());')
        elif name not in names:
            continue
        elif kind in {"FIELD", "PROPERTIES"}:
            lines.append(
                f"[]<typename T>() {{ if constexpr (requires(T one) {{ one.{field}; }})"
                f' say("{name}.{field}", place(offsetof(T, {field}))); }}'
                f".template operator()<{name}>();"
            )
            if kind == "PROPERTIES":
                lines.append(f'say("sizeof {name}", place(sizeof({name})));')
        elif kind == "SIZE":
            lines.append(f'say("sizeof {name}", place(sizeof({name})));')
        else:
            lines.append(f'say("{name}", place(static_cast<unsigned long>({name})));')
    template = (FOLDER / "signature.h").read_text()
    return (
        f"{_HEADERS.splitlines()[0]}\n#include <cstddef>\n#include <cstdio>\n{template}\n"
        "namespace declared {\n" + "\n".join(declarations) + "\n}\n"
        "static std::string place(unsigned long at) { return std::to_string(at); }\n"
        "static void say(const char* what, const std::string& fact) {"
        ' std::printf("%s\\t%s\\n", what, fact.c_str()); }\n'
        "int main() {\n" + "\n".join(dict.fromkeys(lines)) + "\n}\n"
    )


def facts_of(include: Path) -> dict[str, str]:
    """Return what the headers say: numbers, places, and signatures of functions."""
    with tempfile.TemporaryDirectory(prefix="hip-facts-") as scratch:
        source, program = Path(scratch) / "facts.cpp", Path(scratch) / "facts"
        source.write_text(program_for(include))
        command = [compiler(), "-w", *flags(include), str(source), "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"hip_facts: {include}: {done.stderr[:4000]}")
        told = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t") for line in told.splitlines())


def version_of(include: Path) -> str:
    """Return "6.2.41134"."""
    file = include / "hip" / "hip_version.h"
    if not file.is_file():
        sys.exit(f"hip_facts: there is no hip/hip_version.h in {include}")
    text = file.read_text()
    found = dict(re.findall(r"#define\s+HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", text))
    return ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH"))


def add(file: Path, version: str, source: str, facts: dict[str, str]) -> None:
    """Put facts into a file, where each has the versions it holds for."""
    known: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    sources = {**known.get("headers", {}), version: source}
    order = sorted(sources, key=lambda one: [int(part) for part in one.split(".")])
    held: dict[str, dict[str, set[str]]] = {
        name: {fact: set(versions) - {version} for fact, versions in told.items()}
        for name, told in known.get("facts", {}).items()
    }
    for name, fact in facts.items():
        held.setdefault(name, {}).setdefault(fact, set()).add(version)
    lines = [
        f"  {json.dumps(name)}: "
        + json.dumps(
            {
                fact: [one for one in order if one in told]
                for fact, told in sorted(by.items())
                if told
            }
        )
        for name, by in sorted(held.items())
        if any(by.values())
    ]
    heads = ",\n".join(f"  {json.dumps(one)}: {json.dumps(sources[one])}" for one in order)
    body = ",\n".join(lines)
    file.write_text(f'{{"headers": {{\n{heads}\n}}, "facts": {{\n{body}\n}}}}\n')


def main() -> None:
    """Print or add the facts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("include", type=Path)
    parser.add_argument("--source", default="")
    parser.add_argument("--add", type=Path)
    options = parser.parse_args()
    version, facts = version_of(options.include), facts_of(options.include)
    if options.add:
        add(options.add, version, options.source, facts)
    else:
        print(json.dumps({"version": version, "facts": facts}, indent=1))


if __name__ == "__main__":
    main()
