#!/usr/bin/env python3
"""Checks deploy/compose as "docker compose" would read it, and whether its parts find each other.

    build/venv/bin/python scripts/deployment/check_compose.py [FOLDER]

FOLDER has a compose.yaml, by default deploy/compose. Prints a line for each fault; ends with 1 if there is any.
"""

import pathlib
import re
import sys
import urllib.parse

import compose_spec
import yaml

from manifests import seconds

ROOT = pathlib.Path(__file__).resolve().parents[2]


def interpolated(text):
    """${NAME:-default} as without any variable set."""
    return re.sub(r"\$\{[A-Z_]+:-([^}]*)\}", r"\1", text)


def split_volume(volume):
    """(source, path in the container) of the short form."""
    source, path = volume.split(":")[:2]
    return source, path


def volume_faults(name, service, compose, folder):
    for volume in service.get("volumes", []):
        source, path = split_volume(volume)
        if source.startswith("."):
            if not (folder / source).exists():
                yield f"{name}: {source}, mounted at {path}, is not there"
        elif source not in compose.get("volumes", {}):
            yield f"{name}: there is no volume {source}"


def service_faults(compose, folder):
    services = compose["services"]
    for name, service in services.items():
        yield from volume_faults(name, service, compose, folder)
        for other in service.get("depends_on", []):
            if other not in services:
                yield f"{name}: depends on {other}, which is no service"
        for port in service.get("ports", []):
            if not str(port).startswith("127.0.0.1:"):
                yield f"{name}: port {port} is published to other machines"
        tag = service["image"].rsplit(":", 1)
        if len(tag) != 2 or tag[1] == "latest":
            yield f"{name}: image {service['image']} may be another tomorrow"
        target = service.get("build", {}).get("target")
        if target and not re.search(rf"^FROM \S+ AS {target}$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{name}: the Dockerfile has no target {target}"


def published(service):
    """The container's ports."""
    return {int(str(port).rsplit(":", 1)[1]) for port in service.get("ports", [])}


def address_fault(whose, address, services):
    """Whether host:port is a service's."""
    host, port = address.rsplit(":", 1)
    if host not in services:
        return f"{whose}: {address}: {host} is no service"
    if int(port) not in published(services[host]):
        return f"{whose}: {address}: {host} has no port {port}"
    return None


def connection_faults(compose, folder):
    services = compose["services"]
    for file in sorted((folder / "targets").glob("*.yml")):
        for block in yaml.safe_load(file.read_text(encoding="utf-8")):
            for target in block["targets"]:
                yield address_fault(f"targets/{file.name}", target, services)
            if block.get("labels", {}).keys() < {"namespace", "pod"}:
                yield f"targets/{file.name}: rules and dashboards need the labels namespace and pod"
    url = services["grafana"]["environment"].get("PROMETHEUS_URL", "")
    yield address_fault("grafana's PROMETHEUS_URL", urllib.parse.urlsplit(url).netloc or ":0", services)


def configuration_faults(compose):
    """Whether Prometheus' --config.file and Grafana's folder of dashboards are mounted where they are looked for."""
    services = compose["services"]
    prometheus = {path for _, path in map(split_volume, services["prometheus"]["volumes"])}
    for option in services["prometheus"]["command"]:
        if option.startswith("--config.file=") and option.split("=")[1] not in prometheus:
            yield f"prometheus: nothing is mounted at {option.split('=')[1]}"
    provider = yaml.safe_load((ROOT / "deploy/grafana/provisioning/dashboards/tensord.yml").read_text(encoding="utf-8"))
    grafana = {path for _, path in map(split_volume, services["grafana"]["volumes"])}
    for each in provider["providers"]:
        if each["options"]["path"] not in grafana:
            yield f"grafana: nothing is mounted at {each['options']['path']}, where its dashboards are looked for"


def end_faults(compose):
    """Whether the daemon has the time that the image's configuration gives its end."""
    config = yaml.safe_load((ROOT / "deploy/image/tensord.yaml").read_text(encoding="utf-8"))
    needed = seconds(config["drain-grace"]) + seconds(config["drain-timeout"])
    given = seconds(compose["services"]["tensord"].get("stop_grace_period", "10s"))
    if given <= needed:
        yield f"tensord: stop_grace_period is {given:.0f} s, and drain-grace and drain-timeout take {needed:.0f} s"


def faults(text, folder):
    """Every fault of a compose file's text as a line of text; relative paths are relative to the folder."""
    try:
        compose_spec.PyCompose.from_yaml(interpolated(text)).to_spec()
    except ValueError as error:
        return [f"compose.yaml: {error}"]
    compose = yaml.safe_load(interpolated(text))
    found = [*service_faults(compose, folder), *connection_faults(compose, folder), *configuration_faults(compose),
             *end_faults(compose)]
    return [fault for fault in found if fault]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "deploy/compose"
    found = faults((folder / "compose.yaml").read_text(encoding="utf-8"), folder)
    print(*found, f"{folder}: {len(found)} faults", sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
