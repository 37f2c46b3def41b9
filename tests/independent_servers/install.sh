#!/bin/sh
# Installs model servers that other people wrote into DIR, from PyPI and npm, unless they are there.
# usage: install.sh DIR
set -eu
mkdir -p "$1"
cd "$1"

unreachable() {
  echo "$1 cannot be reached" >&2
  exit 1
}

if [ ! -x llmock/bin/llmock ]; then
  python3 -m venv llmock
  llmock/bin/pip --disable-pip-version-check index versions llmock >/dev/null 2>&1 ||
    unreachable "the registry of Python packages"
  llmock/bin/pip install --quiet --disable-pip-version-check llmock==0.2.2
fi
if [ ! -x llama/bin/python ]; then
  python3 -m venv llama
  llama/bin/pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 gguf==0.19.0 numpy==2.4.6
fi
if [ ! -d aimock/node_modules/@copilotkit/aimock ]; then
  mkdir -p aimock
  npm view @copilotkit/aimock version >/dev/null 2>&1 ||
    unreachable "the registry of JavaScript packages"
  npm install --prefix aimock --silent --no-audit --no-fund @copilotkit/aimock@1.43.0
fi
