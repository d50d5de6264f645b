"""Kubernetes objects against schemas that know every field: a field that nobody defines is a fault, not a wish that is ignored."""

import functools
import pathlib

import jsonschema
import kubernetes_validate
import kubernetes_validate.utils
import referencing
import yaml

# The oldest version that the manifests are for, and the newest whose schemas there are.
VERSIONS = ("1.29", "1.37")
# Under this address Kubernetes' schemas refer to each other, and ours to them.
DEFINITIONS = "/api/_definitions.json"
OWN = pathlib.Path(__file__).parent / "schemas"

# It reads five megabytes for every object.
kubernetes_validate.utils.schema_contents = functools.cache(kubernetes_validate.utils.schema_contents)


@functools.cache
def core_definitions():
    """Kubernetes' own types, to which the schemas of others' kinds refer."""
    version = kubernetes_validate.latest_version()
    return referencing.Resource.from_contents(kubernetes_validate.utils.schema_contents(
        f"kubernetes-json-schema/v{version}-local-strict/_definitions.json", version))


@functools.cache
def own_validator(kind):
    path = OWN / f"{kind.lower()}.yaml"
    if not path.exists():
        return None
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    registry = (core_definitions() @ referencing.Registry()).with_resource(DEFINITIONS, core_definitions())
    return jsonschema.Draft202012Validator(schema, registry=registry)


def text_of(error):
    # Of a list of alternatives the one that failed for a reason, not the one of another type.
    error = jsonschema.exceptions.best_match([error]) or error
    path = ".".join(str(part) for part in error.absolute_path)
    return f"{path or 'the object'}: {error.message}"


def faults(item):
    """Every fault of one object as a line of text, without its name."""
    validator = own_validator(item["kind"])
    if validator is not None:
        yield from (text_of(error) for error in validator.iter_errors(item))
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            path = ".".join(str(part) for part in error.absolute_path)
            yield f"{path or 'the object'}: {error.message} (Kubernetes {version})"
        except kubernetes_validate.SchemaNotFoundError:
            yield f"no schema for {item['kind']} of {item['apiVersion']} (Kubernetes {version})"
