//! The names of commands.

use super::*;

#[test]
fn commands_are_named_by_what_they_may_change() {
    let rows = [
        ("find . -name '*.log' -exec rm {} +", "Ran find -exec rm"),
        ("find . -name '*.log' -delete", "Ran find -delete"),
        ("find . -name '*.orig' | xargs rm -f", "Deleted files"),
        ("grep -rl foo src | xargs sed -i s/foo/bar/", "Edited files"),
        (
            "grep -rl foo src | xargs -0 perl -pi -e s/foo/bar/",
            "Edited files",
        ),
        ("sed -i s/a/b/ a.py b.py c.py", "Edited a.py, b.py and c.py"),
        ("perl -0pi -e 's/a/b/g' A.md B.md", "Edited A.md and B.md"),
        (
            "curl -s -X DELETE https://api.example.com/v1/7",
            "Ran curl api.example.com/…/7",
        ),
        ("sort -o a.txt b.txt", "Ran sort a.txt b.txt"),
        ("cat a.txt | tee b.txt", "Wrote b.txt"),
        ("grep x a.txt | sort -u > b.txt", "Wrote b.txt"),
        (
            "cat > f.py <<'E'\nx\nE\npython3 f.py",
            "Wrote f.py, ran f.py",
        ),
        ("git diff --output=a.patch", "Ran git diff"),
        (r"Get-Content app\page.tsx", "Ran Get-Content app/page.tsx"),
        (r"cd x; Remove-Item a\b.txt", "Ran Remove-Item b.txt"),
        (r"type C:\a\notes.txt", "Ran type notes.txt"),
        (
            r"curl -H Content-Type:x \
          https://a.example/v1",
            "Ran curl a.example/v1",
        ),
        ("find . -name '*.rs' -fprint out", "Ran find *.rs"),
        (": > a.log", "Wrote a.log"),
        ("(ls; date) > a.log", "Wrote a.log"),
        ("ls && $(echo rm) x", "Ran a program"),
        ("git ls-files | xargs dos2unix", "Ran dos2unix"),
        ("cargo test && rm -rf tmp/", "Deleted tmp/, ran cargo test"),
        (
            "npm run build && npm run deploy",
            "Ran npm run build and npm run deploy",
        ),
        (
            "docker ps; docker stop web",
            "Ran docker ps and docker stop web",
        ),
        ("bash -c \"rm a.txt\"", "Ran bash"),
        ("python3 -u main.py -e x", "Ran main.py"),
        ("C:/Python/python.exe -u main.py", "Ran main.py"),
        ("python -c 'import a' b.py", "Ran python"),
        ("perl -ne 'print' a.txt > b.txt", "Wrote b.txt"),
        ("npx eslint . --fix", "Ran eslint"),
        ("ls `rm a`", "Ran shell script"),
        (
            "kubectl get po > po.yml",
            "Wrote po.yml, ran kubectl get po",
        ),
        (
            "git branch --merged | xargs git branch -d",
            "Ran git branch",
        ),
        ("mkdir -p a b c", "Ran mkdir a b c"),
        ("git add a.rs b.rs c.rs", "Ran git add a.rs b.rs c.rs"),
        ("git diff -- a.py b.py c.py", "Ran git diff"),
        (
            "mise run test:ci -- -run x | tail -3",
            "Ran mise run test:ci",
        ),
        ("./server --port 80", "Ran server"),
        ("curl -s https://a.io/b | jq .", "Ran curl a.io/b"),
        ("ruff check --fix .", "Ran ruff check"),
        ("perl -ne 'print if /x/' a.txt", "Ran perl"),
        ("grep -c '' a.txt", "Searched for lines in a.txt"),
        ("go test ./src/net/...", "Ran go test net/"),
        ("a; b; c", "Ran a, b and c"),
        (
            "ffmpeg -i a b; convert b c; identify c; exiftool c; jhead c",
            "Ran ffmpeg, convert b c, identify c, exiftool c and jhead c",
        ),
        // These only read.
        (
            "find . -name '*.rs' | xargs grep -l foo",
            "Looked for *.rs files",
        ),
        ("cat a.txt | sort | uniq -c", "Read a.txt"),
        ("sed -n 1,5p a.txt", "Read a.txt"),
        ("grep foo $FILES", "Searched for foo"),
        (
            "grep -A 10 '^[[:space:]]*constructor' a.ts",
            "Searched for ^[[:space:]]*constructor in a.ts",
        ),
        ("rg --files", "Looked for files"),
        ("git diff --stat && cat a.rs", "Ran git diff, read a.rs"),
        (
            "command -v nginx || command -v caddy || true",
            "Ran command -v",
        ),
        ("/x/turnpipe sandbox -- bash -c 'cat a.md'", "Read a.md"),
        ("gh pr view 7 | head", "Ran gh pr view 7"),
    ];
    let rows = rows.map(|(command, expected)| (command, "x", false, expected));
    assert_labels(&rows);
}

#[test]
fn an_option_without_which_the_program_may_do_something_else_is_named() {
    let rows = [
        ("git push --dry-run origin main", "Ran git push --dry-run"),
        ("npm publish --dry-run | tail", "Ran npm publish --dry-run"),
        ("aws s3 rm s3://b/k --dryrun", "Ran aws s3 rm b/k --dryrun"),
        ("cargo test --no-run", "Ran cargo test --no-run"),
        ("pytest --collect-only -q", "Ran pytest --collect-only"),
        ("pytest --co -q tests", "Ran pytest --co"),
        ("bazel build --nobuild //a:b", "Ran bazel build --nobuild"),
        ("cargo fmt -- --check", "Ran cargo fmt --check"),
        (
            "mix format --check-formatted",
            "Ran mix format --check-formatted",
        ),
        (
            "kubectl delete pod web-0 --dry-run=client",
            "Ran kubectl delete pod web-0 --dry-run=client",
        ),
        ("rm --help | head -5", "Ran rm --help"),
        ("make -n install", "Ran make install -n"),
        ("git clean -nfd", "Ran git clean -nfd"),
        ("rsync -avn --delete a/ b/", "Ran rsync -avn"),
        ("bash -n x.sh", "Ran x.sh -n"),
        ("python x.py --dry-run", "Ran x.py --dry-run"),
        ("git tag -l 'v1.*'", "Ran git tag v1.* -l"),
        ("go test -run TestX ./net", "Ran go test"),
    ];
    let rows = rows.map(|(command, expected)| (command, "x", false, expected));
    assert_labels(&rows);
}

#[test]
fn texts_and_places_are_not_objects() {
    let rows = [
        (
            "git add a && git commit -m 'fix: missing/invalid header.'",
            "Ran git add a and git commit",
        ),
        ("git -c user.name=x commit -m y", "Ran git commit"),
        ("docker ps --format '{{.Names}}'", "Ran docker ps"),
        (
            "curl http://a.io/b -d '{\"u\": \"http://c.io/d.e\"}'",
            "Ran curl a.io/b",
        ),
        ("ssh web 'tail -5 /var/log/a.log'", "Ran ssh web"),
        ("awk '{print > \"a.txt\"}' b", "Ran awk b"),
        ("uv run --with ruff ruff check", "Ran ruff check"),
        ("grep -f pats.txt a.txt", "Searched for lines in a.txt"),
        ("sed -i '' 's/a/b/' a.txt", "Edited a.txt"),
        ("find src ! -name '*.md'", "Looked for files in src"),
        ("find src -not -path '*/x/*'", "Looked for files in src"),
        ("find . -name '*.py' ! -name 'a*'", "Looked for files"),
        ("cp a b c d dest/", "Ran cp a b c d dest/"),
        ("which pnpm yarn bun", "Ran which pnpm yarn bun"),
    ];
    let rows = rows.map(|(command, expected)| (command, "x", false, expected));
    assert_labels(&rows);
}
