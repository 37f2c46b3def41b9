#!/usr/bin/env python3
"""Exports sessions as trajectories, and checks them with Harbor's own validator and with `session stats`.

usage: independent_atif.py TURNPIPE VENV PATH...
Installs the validator of Harbor into the directory VENV if it is missing. Each PATH is a file or a folder. Prints what
is wrong, and a line with the number of trajectories. Exits with 1 if anything is wrong.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import venv

HARBOR = "harbor==0.25.0"


def install(directory):
    """Installs the two folders of Harbor that validate: all of it needs Python 3.12 and many packages."""
    harbor = directory / "harbor"
    if not harbor.exists():
        venv.create(directory, with_pip=True)
        pip = [directory / "bin" / "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "pydantic"], check=True)
        wheel = [*pip, "install", "--no-deps", "--ignore-requires-python", "--target", directory / "wheel", HARBOR]
        subprocess.run(wheel, check=True)
        (directory / "wheel" / "harbor").rename(harbor)
    sys.path.extend(map(str, directory.glob("lib/python*/site-packages")))
    # The packages themselves import the rest of Harbor.
    for name in ["harbor", "harbor.models", "harbor.utils"]:
        module = types.ModuleType(name)
        module.__path__ = [str(directory / name.replace(".", "/"))]
        sys.modules[name] = module


def session(turnpipe, *arguments):
    command = [turnpipe, "session", *map(str, arguments)]
    output = subprocess.run(command, capture_output=True, text=True, env={"HOME": "/nonexistent"}).stdout
    return [json.loads(line) for line in output.splitlines()]


def check(turnpipe, path, validator):
    """Returns the problems of one session. None if the file is not a session."""
    stats = session(turnpipe, "stats", "--json", path)
    if not stats or not stats[0]["sessions"]:
        return None
    with tempfile.TemporaryDirectory() as folder:
        session(turnpipe, "export", folder, path, "-o", "atif", "--all")
        written = list(pathlib.Path(folder).glob("*.atif.json"))
        if len(written) != 1:
            return ["nothing was exported"]
        problems = [] if validator.validate(written[0]) else validator.get_errors()
        trajectory = json.loads(written[0].read_text())
        again = session(turnpipe, "stats", "--json", written[0])[0]
    usage, totals = stats[0]["usage"], trajectory["final_metrics"]
    read = usage["cache_read_input_tokens"]
    expected = {
        "total_prompt_tokens": usage["input_tokens"] + read + usage["cache_creation_input_tokens"],
        "total_completion_tokens": usage["output_tokens"],
        "total_cached_tokens": read,
        "total_cost_usd": usage.get("cost_usd"),
    }
    for name, value in expected.items():
        if totals.get(name) != value:
            problems.append(f"{name}: {totals.get(name)} instead of {value}")
    for name in usage.keys() | again["usage"].keys():
        before, after = usage.get(name, 0), again["usage"].get(name, 0)
        if abs(before - after) > 1e-6:
            problems.append(f"{name}: read as {after} instead of {before}")
    return problems


def main():
    turnpipe, directory, *paths = sys.argv[1:]
    install(pathlib.Path(directory).absolute())
    from harbor.utils.trajectory_validator import TrajectoryValidator

    files = []
    for path in map(pathlib.Path, paths):
        files.extend(sorted(file for file in path.rglob("*.json*") if file.is_file()) if path.is_dir() else [path])
    count = wrong = 0
    for file in files:
        problems = check(turnpipe, file, TrajectoryValidator())
        count += problems is not None
        for problem in problems or []:
            wrong += 1
            print(f"{file}: {problem}")
    print(f"{count} trajectories, {wrong} problems")
    sys.exit(1 if wrong or not count else 0)


if __name__ == "__main__":
    main()
