#!/usr/bin/env bash
# Makes the repository in which the corpus is executed: everything its commands talk about.
#
# usage: scratch.sh DIRECTORY   (must not exist)
set -euo pipefail
mkdir -p "$1"/{repo,home,tmp}
cd "$1"
export HOME=$PWD/home GIT_CONFIG_NOSYSTEM=1
git config --global user.name somebody
git config --global user.email somebody@example.invalid
git config --global init.defaultBranch main
git init -q --bare home/origin.git

cd repo
git init -q
mkdir sub src evilhome evilxdg evilxdg/git gitexec hooks
printf 'foo 1\nbar 2\n\n# note\nfoo 3\n' > a.txt
printf 'one\ntwo\n' > b.txt
printf 'b\na\nc\na\n' > in.txt
printf '{"items":[{"name":"x"},{"name":"y"}],"name":"z","version":"1.0"}\n' > data.json
printf 'key: 1\n' > data.yaml
printf 'a,b\n1,2\n' > data.csv
printf 'one\n' > sub/one.txt
printf 'line\n' > sub/x.log
printf 'fn main() {}\n' > src/main.rs
printf 'int main(void) { return 0; }\n' > a.c
printf 'print(1)\n' > code.py
printf 'open("PWNED", "w")\n' > code_mod.py
printf 'aGk=\n' > b64.txt
printf 'a.txt\nb.txt\n' > files.txt
printf '0 string x y\n' > magicsrc
printf 'touch PWNED\n' > cmds.sh
printf '*.txt diff=x filter=x merge=x\n' > attrs
printf 'BEGIN { system("touch PWNED") }\n' > prog.awk
printf 'all:\n\t+touch PWNED\nX := $(shell touch PWNED)\n' > Makefile.evil
printf '#!/bin/sh\ntouch "%s"\ncat "$@" 2>/dev/null\nexit 0\n' PWNED > evil
cp evil fakels
cp evil gitexec/git-foo
cp evil hooks/post-checkout
chmod +x cmds.sh evil fakels gitexec/git-foo hooks/post-checkout
printf '[diff]\n\texternal = touch PWNED\n' | tee evil.gitconfig evilhome/.gitconfig > evilxdg/git/config
# Not in turnpipe itself, which whoever sets its environment has already.
cat > evil.c << 'end'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
__attribute__((constructor)) static void f(void) {
    if (strcmp(program_invocation_short_name, "turnpipe")) creat("PWNED", 0644);
}
end
! command -v cc > /dev/null || cc -shared -fPIC -o evil.so evil.c
printf 'log line foo\n' | gzip > log.gz
tar -cf arch.tar in.txt data.csv
printf 'PK' > arch.zip
git add -A
git commit -qm 'First commit'
printf 'more\n' >> sub/one.txt
git commit -qam 'Second commit'
git checkout -q -b dev
printf 'dev\n' > dev.txt
git add dev.txt
git commit -qm 'On dev'
git checkout -q main
printf 'third\n' >> b.txt
git commit -qam 'Third commit'
git tag v1
git remote add origin "$1/home/origin.git"
git push -q origin main
git branch -q --set-upstream-to=origin/main main
# A commit with something where a signature would be.
tree=$(git write-tree)
printf 'tree %s\nparent %s\nauthor a <a@b.invalid> 1 +0000\ncommitter a <a@b.invalid> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n' \
  "$tree" "$(git rev-parse HEAD)" > ../signed
git update-ref refs/heads/signed "$(git hash-object -t commit -w --stdin < ../signed)"
rm ../signed
printf 'stashed\n' >> in.txt
git stash -q
printf 'changed\n' >> a.txt
mkdir emptydir
printf 'untracked\n' > sub/new.txt
mkdir evilrepo
git -C evilrepo init -q
printf 'x\n' > evilrepo/x.txt
git -C evilrepo add -A
git -C evilrepo commit -qm x
printf 'y\n' >> evilrepo/x.txt
git -C evilrepo config core.fsmonitor 'touch PWNED;false'
git -C evilrepo config diff.external 'touch PWNED'
# So that only a command that rewrites the index changes it, not the first that looks.
git status > /dev/null
