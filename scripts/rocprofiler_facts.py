"""Tell what rocprofiler-sdk's headers say of everything that mneme uses of it.

    scripts/rocprofiler_facts.py INCLUDE [--version 0.6.0] [--source TEXT] [--add FILE]

INCLUDE is a folder that holds `rocprofiler-sdk/fwd.h`: $ROCM_PATH/include, or the folder
source/include of rocprofiler-sdk's sources, whose version is to be named. What mneme uses is listed
in tests/unit/profile/names.inc. Prints one JSON object; with --add it is put into FILE
(tests/unit/profile/rocprofiler_facts.json), which `test_profile` compares with mneme's own
declarations. TEXT says where the headers come from.

The headers include many more, of HIP, HSA and other libraries, for things that mneme does not use:
those that are not there are taken for empty. Needs clang.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from hip_facts import add, compiler

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "unit" / "profile" / "names.inc"
SIGNATURE = ROOT / "tests" / "unit" / "device_hip" / "signature.h"
_HEADERS = ("fwd", "registration", "context", "buffer", "buffer_tracing", "callback_tracing")
_ENTRY = re.compile(r"^([A-Z_]+)\((\w+)(?:, (\w+))?", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ROUNDS = 60


def fail(sentence: str) -> None:
    """End with a sentence."""
    sys.exit(f"rocprofiler_facts: {sentence}")


def line_for(kind: str, name: str, more: str) -> str:
    """Return the statement that prints one fact."""
    if kind.endswith("SIZE"):
        return f'say("sizeof {name}", std::to_string(sizeof({name})));'
    if kind in {"FIELD", "CALLBACK", "CLIENT"}:
        return f'say("{name}.{more}", std::to_string(offsetof({name}, {more})));'
    if kind == "FUNCTION":
        return f'say("{name}", signature<decltype(&{name})>());'
    if kind == "CALLED":
        return f'say("{name}", signature<{name}>());'
    return f'say("{name}", std::to_string(static_cast<long>({name})));'


def program_for(include: Path) -> str:
    """Return the source of a program that prints the facts, a line for each."""
    headers = [f"rocprofiler-sdk/{name}.h" for name in _HEADERS]
    headers = [one for one in headers if (include / one).is_file()]
    if not headers:
        fail(f"there is no rocprofiler-sdk/fwd.h in {include}")
    text = "".join((include / one).read_text() for one in headers)
    names = set(re.findall(r"\w+", _COMMENT.sub("", text)))
    entries = [one for one in _ENTRY.findall(NAMES.read_text()) if one[1] in names]
    lines = [line_for(*entry) for entry in entries]
    includes = "".join(f"#include <{one}>\n" for one in headers)
    return (
        "#include <cstddef>\n#include <cstdio>\n" + SIGNATURE.read_text() + '#include "fill.h"\n'
        f"{includes}static void say(const char* what, const std::string& fact) {{"
        ' std::printf("%s\\t%s\\n", what, fact.c_str()); }\n'
        "int main() {\n" + "\n".join(lines) + "\n}\n"
    )


def fill(said: str, empty: Path) -> bool:
    """Make what the compiler missed of other libraries; false if it missed something else."""
    if missing := re.search(r"fatal error: '([^']+)' file not found", said):
        (empty / missing[1]).parent.mkdir(parents=True, exist_ok=True)
        (empty / missing[1]).touch()
        return True
    types = set(re.findall(r"error: unknown type name '(\w+)'", said))
    values = set(re.findall(r"error: use of undeclared identifier '(\w+)'", said)) - types
    if (types | values) & set(re.findall(r"\w+", NAMES.read_text())):
        return False
    with (empty / "fill.h").open("a") as file:
        file.writelines(f"struct {one} {{ unsigned long value; }};\n" for one in sorted(types))
        file.writelines(f"constexpr int {one} = 0;\n" for one in sorted(values))
    return bool(types or values)


def facts_of(include: Path, version: str) -> dict[str, str]:
    """Return what the headers say: numbers, places, and signatures of functions."""
    major, minor, patch = version.split(".")
    numbers = {"MAJOR": major, "MINOR": minor, "PATCH": patch}
    defined = [f"-DROCPROFILER_VERSION_{part}={number}" for part, number in numbers.items()]
    defined += [f"-DROCPROFILER_VERSION={10000 * int(major) + 100 * int(minor) + int(patch)}"]
    with tempfile.TemporaryDirectory(prefix="rocprofiler-facts-") as scratch:
        source, built, empty = (Path(scratch) / name for name in ("facts.cpp", "facts", "empty"))
        source.write_text(program_for(include))
        empty.mkdir()
        (empty / "fill.h").write_text("#pragma once\n")
        flags = ["-std=c++20", "-w", "-ferror-limit=0", f"-I{include}", f"-I{empty}"]
        if not (include / "rocprofiler-sdk" / "version.h").is_file():
            flags += defined
        command = [compiler(), *flags, "-D__HIP_PLATFORM_AMD__", str(source), "-o", str(built)]
        for _ in range(_ROUNDS):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                told = subprocess.run([built], capture_output=True, text=True, check=True).stdout
                return dict(line.split("\t") for line in told.splitlines())
            if not fill(done.stderr, empty):
                break
        fail(f"the headers in {include} cannot be read:\n{done.stderr[:4000]}")
    raise AssertionError  # fail() does not return


def version_of(include: Path) -> str:
    """Return "0.4.0", as the headers of an installation say."""
    file = include / "rocprofiler-sdk" / "version.h"
    if not file.is_file():
        fail(f"there is no rocprofiler-sdk/version.h in {include}; name the --version")
    text = file.read_text()
    found = dict(re.findall(r"#define\s+ROCPROFILER_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", text))
    return ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH"))


def main() -> None:
    """Print or add the facts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("include", type=Path)
    parser.add_argument("--version")
    parser.add_argument("--source", default="")
    parser.add_argument("--add", type=Path)
    options = parser.parse_args()
    version = options.version or version_of(options.include)
    facts = facts_of(options.include, version)
    if options.add:
        add(options.add, version, options.source, facts)
    else:
        print(json.dumps({"version": version, "facts": facts}, indent=1))


if __name__ == "__main__":
    main()
