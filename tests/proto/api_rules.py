"""The rules that the .proto files keep, checked on their descriptors.

Each rule is a function of a Schema that yields one line for each fault, so that a test can also
show that it finds faults.
"""

import collections
import os
import re
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

Item = collections.namedtuple("Item", "kind name comment descriptor parent")

# Positions within FileDescriptorProto and its parts, as source locations name them.
FILE_MESSAGE, FILE_ENUM, FILE_SERVICE, FILE_PACKAGE = 4, 5, 6, 2
MESSAGE_FIELD, MESSAGE_NESTED, MESSAGE_ENUM, MESSAGE_ONEOF = 2, 3, 4, 8
ENUM_VALUE, SERVICE_METHOD = 2, 2

Field = descriptor_pb2.FieldDescriptorProto


class Schema:
    """Everything that a set of .proto files declares, with the comment before it."""

    def __init__(self, root, paths):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "set.pb")
            subprocess.run(
                ["protoc", "-I", root, "--include_source_info", "--include_imports",
                 "--descriptor_set_out", output, *paths], check=True)
            with open(output, "rb") as file:
                files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
        self.items = []
        for file in files:
            if os.path.join(root, file.name) in paths:
                self._add_file(file)

    def of_kind(self, kind):
        return [item for item in self.items if item.kind == kind]

    def find(self, kind, name):
        return next(item for item in self.items if (item.kind, item.name) == (kind, name))

    def _add_file(self, file):
        self._comments = {
            tuple(location.path): location.leading_comments
            for location in file.source_code_info.location
        }
        self._add("file", file.name, (FILE_PACKAGE,), file, None)
        for i, message in enumerate(file.message_type):
            self._add_message(file.package, message, (FILE_MESSAGE, i), None)
        for i, enum in enumerate(file.enum_type):
            self._add_enum(file.package, enum, (FILE_ENUM, i))
        for i, service in enumerate(file.service):
            name = f"{file.package}.{service.name}"
            self._add("service", name, (FILE_SERVICE, i), service, None)
            for j, method in enumerate(service.method):
                path = (FILE_SERVICE, i, SERVICE_METHOD, j)
                self._add("rpc", f"{name}.{method.name}", path, method, service)

    def _add_message(self, scope, message, path, parent):
        if message.options.map_entry:
            return
        name = f"{scope}.{message.name}"
        self._add("message", name, path, message, parent)
        for i, field in enumerate(message.field):
            self._add("field", f"{name}.{field.name}", path + (MESSAGE_FIELD, i), field, message)
        for i, oneof in enumerate(message.oneof_decl):
            # An `optional` field is a oneof that nobody wrote.
            if any(f.oneof_index == i and not f.proto3_optional and f.HasField("oneof_index")
                   for f in message.field):
                self._add("oneof", f"{name}.{oneof.name}", path + (MESSAGE_ONEOF, i), oneof, message)
        for i, nested in enumerate(message.nested_type):
            self._add_message(name, nested, path + (MESSAGE_NESTED, i), message)
        for i, enum in enumerate(message.enum_type):
            self._add_enum(name, enum, path + (MESSAGE_ENUM, i))

    def _add_enum(self, scope, enum, path):
        name = f"{scope}.{enum.name}"
        self._add("enum", name, path, enum, None)
        for i, value in enumerate(enum.value):
            self._add("value", f"{name}.{value.name}", path + (ENUM_VALUE, i), value, enum)

    def _add(self, kind, name, path, descriptor, parent):
        comment = self._comments.get(path, "").strip()
        self.items.append(Item(kind, name, comment, descriptor, parent))


def without_comment(schema):
    """Everything has a comment before it."""
    for item in schema.items:
        if not item.comment:
            yield f"{item.kind} {item.name} has no comment"


def rpcs_without_errors(schema):
    """Each rpc says how it fails."""
    for rpc in schema.of_kind("rpc"):
        if "Errors" not in rpc.comment:
            yield f"rpc {rpc.name} does not tell its errors"


def rpcs_without_idempotency(schema):
    """Each rpc says whether it may be retried: by its option, or in words."""
    for rpc in schema.of_kind("rpc"):
        if not rpc.descriptor.options.idempotency_level and "dempotent" not in rpc.comment:
            yield f"rpc {rpc.name} does not tell whether it is idempotent"


def enums_with_a_meaningful_zero(schema):
    """The value 0 is <ENUM>_UNSPECIFIED, so that absence is never taken for a choice."""
    for enum in schema.of_kind("enum"):
        prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum.descriptor.name).upper()
        zero = next(v.name for v in enum.descriptor.value if v.number == 0)
        if zero not in (f"{prefix}_UNSPECIFIED", f"{enum.descriptor.name.upper()}_UNSPECIFIED"):
            yield f"enum {enum.name} has the zero value {zero}"


def is_bulk(field):
    if field.type == Field.TYPE_BYTES:
        return field.name in ("data", "chunk", "onnx")
    return field.type_name in {f".tensord.v1.{name}" for name in (
        "Tensor", "TensorList", "TensorSequence", "Initializer", "ExecuteInput", "ExecuteOutput",
        "ExecuteRequest", "ExecuteResponse")}


def small_fields_after_bulk(schema):
    """Tensor bytes, and what contains them, have the highest numbers: a writer puts them last."""
    for message in schema.of_kind("message"):
        fields = message.descriptor.field
        first_bulk = min((f.number for f in fields if is_bulk(f)), default=None)
        for field in fields:
            if first_bulk and field.number > first_bulk and not is_bulk(field):
                yield f"field {message.name}.{field.name} comes after bulk bytes"


def half_paged_messages(schema):
    """A list has page_size and page_token, and its answer next_page_token."""
    names = {m.name: {f.name for f in m.descriptor.field} for m in schema.of_kind("message")}
    for rpc in schema.of_kind("rpc"):
        asked = names.get(rpc.descriptor.input_type.lstrip("."), set())
        given = names.get(rpc.descriptor.output_type.lstrip("."), set())
        paging = [n in fields for n, fields in
                  (("page_size", asked), ("page_token", asked), ("next_page_token", given))]
        if any(paging) and not all(paging):
            yield f"rpc {rpc.name} is paged by half"


def unsigned_fields(schema):
    """Sizes, counts and times are signed: many languages have no unsigned integers."""
    unsigned = (Field.TYPE_UINT32, Field.TYPE_UINT64, Field.TYPE_FIXED32, Field.TYPE_FIXED64)
    for field in schema.of_kind("field"):
        if field.descriptor.type in unsigned:
            yield f"field {field.name} is unsigned"


RULES = (without_comment, rpcs_without_errors, rpcs_without_idempotency,
         enums_with_a_meaningful_zero, small_fields_after_bulk, half_paged_messages,
         unsigned_fields)


def numbers(schema):
    """One line for each field, value and rpc: name, number, type. What clients rely on."""
    lines = []
    for item in schema.items:
        d = item.descriptor
        if item.kind == "field":
            kind = d.type_name.lstrip(".") or Field.Type.Name(d.type)[len("TYPE_"):].lower()
            many = "repeated " if d.label == Field.LABEL_REPEATED else ""
            lines.append(f"{item.name} = {d.number} {many}{kind}")
        elif item.kind == "value":
            lines.append(f"{item.name} = {d.number}")
        elif item.kind == "rpc":
            streams = ("stream " if d.client_streaming else "", "stream " if d.server_streaming else "")
            lines.append(f"{item.name}({streams[0]}{d.input_type[1:]}) {streams[1]}{d.output_type[1:]}")
    return sorted(lines)


def broken_promises(recorded, schema):
    """What a recorded line promised and the schema does not keep; what is new and not recorded.

    A field or value may go if its number and its name are reserved. Then no later one can take
    the number and read old bytes as its own.
    """
    now = numbers(schema)
    reserved = set()
    for item in schema.of_kind("message"):
        ranges = [(r.start, r.end) for r in item.descriptor.reserved_range]
        _add_reserved(reserved, item, ranges)
    for item in schema.of_kind("enum"):
        ranges = [(r.start, r.end + 1) for r in item.descriptor.reserved_range]
        _add_reserved(reserved, item, ranges)
    for line in sorted(set(recorded) - set(now)):
        match = re.match(r"(?P<scope>\S+)\.(?P<name>\w+) = (?P<number>\d+)", line)
        if not match or not {(match["scope"], match["name"]),
                             (match["scope"], int(match["number"]))} <= reserved:
            yield f"gone or changed: {line}"
    for line in sorted(set(now) - set(recorded)):
        yield f"new, not recorded: {line}"


def _add_reserved(reserved, item, ranges):
    reserved.update((item.name, name) for name in item.descriptor.reserved_name)
    for start, end in ranges:
        reserved.update((item.name, number) for number in range(start, min(end, start + 1000)))
