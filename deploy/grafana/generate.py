#!/usr/bin/env python3
"""Writes the dashboards of Grafana, dashboards/*.json, from the modules in generator/.

    build/venv/bin/python deploy/grafana/generate.py [--check]

--check writes nothing and says which files differ from what would be written; the exit status is then 1. The venv is made by
scripts/setup.sh --venv.
"""

import argparse
import json
import pathlib
import sys

from grafana_foundation_sdk.cog import encoder

from generator import devices, graphs, operators, overview

FOLDER = pathlib.Path(__file__).resolve().parent / "dashboards"
DASHBOARDS = {"overview": overview, "operators": operators, "devices": devices, "graphs": graphs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args()
    texts = {FOLDER / f"{name}.json": json.dumps(module.dashboard(), cls=encoder.JSONEncoder, indent=1, sort_keys=True) + "\n"
             for name, module in DASHBOARDS.items()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    strangers = set(FOLDER.glob("*.json")) - set(texts)
    for path in sorted(strangers):
        print(f"{path.name}: no module writes it")
    for path in stale:
        if options.check:
            print(f"{path.name}: differs from what the generator writes")
        else:
            path.write_text(texts[path], encoding="utf-8")
            print(f"{path.name}: written")
    return 1 if strangers or (options.check and stale) else 0


if __name__ == "__main__":
    sys.exit(main())
