#!/usr/bin/env python3
"""Counts the source files of which a function runs: gdb stops at each function of a debug build once.

usage: benches/files_of_a_run.py target/debug/turnpipe run-tools < FILE
"""
import json
import os
import re
import subprocess
import sys
import tempfile

GDB = """
import gdb, json
for setting in ("pagination off", "confirm off", "breakpoint always-inserted on", "print thread-events off"):
    gdb.execute("set " + setting)
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("handle SIGTRAP stop noprint nopass", to_string=True)
gdb.execute({start!r}, to_string=True)
mappings = gdb.execute("info proc mappings", to_string=True).splitlines()
base = {is_movable} and next(int(line.split()[0], 16) for line in mappings if {program!r} in line)
for address in json.load(open({addresses!r})):
    gdb.execute(f"tbreak *{{base + address}}", to_string=True)
reached = []
try:
    while True:
        gdb.execute("continue", to_string=True)
        reached.append(int(gdb.parse_and_eval("(long)$pc")) - base)
except gdb.error:
    pass  # The program has ended.
json.dump(reached, open({reached!r}, "w"))
"""


def source_file(path):
    names = path.split("::")[1:]
    while names:
        name = "/".join(names) + ".rs"
        if any(os.path.exists(os.path.join(root, name)) for root in ("src", "crates/core/src", "crates/formats/src", "crates/guard/src", "crates/sessions/src")):
            return name
        names.pop()


program = os.path.realpath(sys.argv[1])
with open(program, "rb") as file:
    # The type of the ELF file: 2 has fixed addresses.
    is_movable = file.read(17)[16] != 2
symbols = subprocess.run(["nm", "-C", "--defined-only", program], capture_output=True, text=True, check=True)
functions = {}
for line in symbols.stdout.splitlines():
    found = re.match(r"([0-9a-f]+) [tT] <*(turnpipe(?:_rules)?(::[a-z_0-9]+)+)", line)
    if found:
        functions[int(found[1], 16)] = source_file(found[2])
with tempfile.TemporaryDirectory() as folder:
    names = {name: os.path.join(folder, name) for name in ("input", "addresses", "reached", "script.py")}
    with open(names["input"], "wb") as file:
        file.write(b"" if sys.stdin.isatty() else sys.stdin.buffer.read())
    with open(names["addresses"], "w") as file:
        json.dump(list(functions), file)
    start = f"starti {' '.join(sys.argv[2:])} < {names['input']} > /dev/null 2>&1"
    with open(names["script.py"], "w") as file:
        file.write(GDB.format(
            start=start,
            program=program,
            is_movable=is_movable,
            addresses=names["addresses"],
            reached=names["reached"],
        ))
    subprocess.run(["gdb", "-q", "-batch", "-x", names["script.py"], program], capture_output=True, check=True)
    with open(names["reached"]) as file:
        files = {functions.get(address) for address in json.load(file)} - {None}
print(len(files))
for name in sorted(files):
    print(" ", name)
