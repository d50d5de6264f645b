#!/bin/bash
# Renders and checks what tensord is deployed by: every Kubernetes overlay against strict schemas and against itself, the compose file,
# and whether a daemon takes the options and knows the probes' services. Ends with the number of tests.
#
#   scripts/test_deployment.sh     with the programs of build/release/bin, or of TENSORD_BIN_DIR
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --venv
scripts/install_kubectl.sh

export TENSORD_BIN_DIR=${TENSORD_BIN_DIR:-$PWD/build/release/bin}
build/venv/bin/python scripts/deployment/check_manifests.py
build/venv/bin/python scripts/deployment/check_compose.py
build/venv/bin/python -m unittest discover --start-directory tests/scripts/deployment --pattern '*_test.py'
