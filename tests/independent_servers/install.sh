#!/bin/sh
# Installs model servers that other people wrote into DIR, from PyPI and npm.
# usage: install.sh DIR
# Exit status 69 means that the registries cannot be reached.
set -eu
dir=$1
mkdir -p "$dir"
cd "$dir"

python3 -c '
import socket
for host in ("pypi.org", "registry.npmjs.org"):
    socket.getaddrinfo(host, 443)
' 2>/dev/null || [ -n "${PIP_INDEX_URL:-}${npm_config_registry:-}" ] || pip config get global.index-url >/dev/null 2>&1 || exit 69

if [ ! -x llmock/bin/llmock ]; then
  python3 -m venv llmock
  llmock/bin/pip install --quiet --disable-pip-version-check llmock==0.2.2 || exit 69
fi
if [ ! -d aimock/node_modules/@copilotkit/aimock ]; then
  mkdir -p aimock
  npm install --prefix aimock --silent --no-audit --no-fund @copilotkit/aimock@1.43.0 || exit 69
fi
