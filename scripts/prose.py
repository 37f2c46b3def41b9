#!/usr/bin/env python3
"""Counts phrases that the wording rules of CONTRIBUTING.md exclude.

usage: scripts/prose.py [--list] [--limit N] [PATH...]     (default: src, crates, docs and the Markdown files of the root)

Reads comments, string literals with spaces, and Markdown outside code blocks. Exits with 1 if there are more than N
phrases per 1,000 lines of text (20 by default).
"""

import argparse
import re
import sys
from pathlib import Path

RULES = {
    "negation: is not, has no": r"(?<!\bthere )\b(?:is|are|was|were) (?:no (?!longer\b|more\b|later\b|other\b)[a-z]+|none\b|nobody)",
    "concrete subject": r"\b(?:who|what|which)ever\b|\b(?:no|some)body\b|\b(?:those|that) of\b|\bwho (?:asks|may)\b",
    "plain verb: is, contains, follows": r"\bstands?\b(?! for\b)|\b(?:go|goes|went|gone) on\b|\bt(?:akes?|aken) up\b",
    "plain verb: names, describes": r"\btells? of\b|\b(?:is|are|was|were) told\b",
    "except, without": r"\bbut for\b",
    "next to, with": r"\bbeside\b",
    "word order": r"\b(?:of|in|to|by|for|from) (?:whom|which)\b",
    "start with a verb or a noun": r"^//[/!] (?:What|How|Where|Which|Who|Why|When)\b",
}
RULES = {name: re.compile(pattern, re.I if name != "start with a verb or a noun" else 0) for name, pattern in RULES.items()}
CONSTANT = re.compile(r"\bconst (?:MOST|LONGEST|WIDEST|LARGEST|FEWEST)_\w+")
STRING = re.compile(r'"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"')


def texts(path):
    """The lines of a file that are text, with their numbers."""
    is_code = False
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        line = line.strip()
        if path.suffix == ".md":
            is_code ^= line.startswith("```")
            if line and not is_code and not line.startswith("```"):
                yield number, line
        elif line.startswith("//"):
            if line.strip("/! "):
                yield number, line
        elif found := " ".join(STRING.findall(line)):
            yield number, found
        elif CONSTANT.search(line):
            yield number, line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="print each phrase")
    parser.add_argument("--limit", type=float, default=20, help="phrases per 1,000 lines of text")
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("src"), Path("crates"), Path("docs"), *sorted(Path().glob("*.md"))])
    options = parser.parse_args()
    files = [file for path in options.paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    lines, hits = 0, []
    for file in files:
        for number, text in texts(file) if file.suffix in (".rs", ".md") else []:
            lines += 1
            found = [(name, match.group()) for name, rule in RULES.items() for match in rule.finditer(text)]
            found += [("MAX_ or …_LIMIT", match.group()) for match in CONSTANT.finditer(text)]
            hits += [f"{file}:{number}: `{phrase}` ({name})" for name, phrase in found]
    if options.list:
        print("\n".join(hits))
    rate = 1000 * len(hits) / max(lines, 1)
    print(f"{len(hits)} phrases in {lines} lines of text: {rate:.1f} per 1,000 (limit {options.limit:g})")
    sys.exit(rate > options.limit)


if __name__ == "__main__":
    main()
