"""The edits that a scripted model asks agents for, and the patch that `session diff` makes of their sessions."""
import json
import pathlib
import shutil
import subprocess

FILES = {
    "tabs.go": "package p\n\nfunc f() int {\n\treturn 1\n}\n",
    "no line feed.txt": "alpha\nbeta\ngamma",
    "dir/größe.txt": "one\ntwo ✅\nthree\n",
}
# Of each edit in two turns the file, the old text and the new text.
EDITS = [
    [
        ("tabs.go", "\treturn 1", "\treturn 2\n\t// now"),
        ("dir/new file.txt", None, "a\nb\n"),
        ("dir/größe.txt", "missing", "nothing"),
        ("no line feed.txt", "gamma", "delta"),
    ],
    [("dir/new file.txt", "b", "c"), ("dir/größe.txt", "two ✅", "two 🚀")],
]


def patch(path, old, new):
    """Returns the edit for Codex."""
    lines = ["+" + line for line in new.splitlines()]
    if old is not None:
        lines = ["@@"] + ["-" + line for line in old.splitlines()] + lines
    head = "*** %s File: %s" % ("Add" if old is None else "Update", path)
    return "\n".join(["apply_patch <<'EOF'", "*** Begin Patch", head, *lines, "*** End Patch", "EOF"])


def reads(tools, project):
    """Returns calls that read the files, which some agents want before they change them."""
    paths = [str(project / name) for name in FILES]
    member = "filePath" if "todowrite" in tools else "path"
    if "read_file" in tools:
        return [("read_file", {"file_path": path}) for path in paths]
    return [("read", {member: path}) for path in paths] if "read" in tools else []


def call(tools, project, path, old, new):
    """Returns the tool of an edit among these, and its arguments."""
    full = str(project / path)
    if "exec_command" in tools:
        return "exec_command", {"cmd": patch(path, old, new)}
    if "create" in tools:
        if old is None:
            return "create", {"path": full, "file_text": new}
        return "edit", {"path": full, "old_str": old, "new_str": new}
    if "todowrite" in tools:
        if old is None:
            return "write", {"filePath": full, "content": new}
        return "edit", {"filePath": full, "oldString": old, "newString": new}
    if "write_file" in tools:
        if old is None:
            return "write_file", {"file_path": full, "content": new}
        edit = {"file_path": full, "old_string": old, "new_string": new}
        return ("replace", {**edit, "instruction": "Change it"}) if "replace" in tools else ("edit", edit)
    if old is None:
        return "write", {"path": path, "content": new}
    return "edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}


def turns(tools, project):
    """Returns the calls of each turn."""
    edits = [[call(tools, project, *edit) for edit in turn] for turn in EDITS]
    return [turn for turn in (reads(tools, project), *edits) if turn]


def write(project):
    for name, text in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_bytes(text.encode())


def contents(project):
    paths = {*FILES, *(path for turn in EDITS for path, _, _ in turn)}
    return {path: (project / path).read_text() for path in paths if (project / path).exists()}


def check(turnpipe, project, options, seen):
    """Applies the patch of the only session to the starting state, and compares the files."""
    expected = contents(project)
    assert len(expected) == 4 and all(expected[path] != text for path, text in FILES.items()), (expected, seen)

    def session(*arguments):
        run = subprocess.run([turnpipe, "session", *arguments], **options)
        assert run.returncode == 0, (arguments, run.stderr, seen)
        return run.stdout

    changed = session("calls", "--changed", "--json").splitlines()
    named = {file["path"] for row in changed for file in json.loads(row)["files"]}
    assert named == {str(project / path) for path in expected}, (named, seen)
    assert session("diff", "latest", "--quiet") == session("diff", "latest"), seen
    [listed] = session("list", "--json", "--path", project / "dir/new file.txt").splitlines()
    assert session("show", json.loads(listed)["path"], "--last-answer", "-o", "text").strip() == "Done.", seen
    start = pathlib.Path(options["env"]["HOME"]) / "start"
    start.mkdir()
    write(start)
    command = ["git", "apply", "--whitespace=nowarn"]
    patched = {**options, "cwd": start, "input": session("diff", "latest")}
    patched.pop("stdin")
    run = subprocess.run(command, **patched)
    assert run.returncode == 0, (run.stderr, patched["input"], seen)
    assert contents(start) == expected, (patched["input"], seen)
    shutil.rmtree(start)
