"""The API keeps its own rules and its promises.

`api_test.py --record` writes api_numbers.txt anew after a change that was meant.
"""

import glob
import hashlib
import os
import struct
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)

import api_rules  # noqa: E402

ROOT = os.path.abspath(os.path.join(FOLDER, "../../proto"))
RECORD = os.path.join(FOLDER, "api_numbers.txt")


def load(*patterns):
    paths = sorted(p for pattern in patterns for p in glob.glob(os.path.join(ROOT, pattern)))
    return api_rules.Schema(ROOT, paths)


API = load("tensord/v1/*.proto")
OTHERS = load("google/rpc/*.proto", "grpc/health/v1/*.proto", "onnx/*.proto", "tensord/wire/*.proto")

# One fault for each rule, and none that is not listed.
FAULTY = """
syntax = "proto3";
// A file.
package faulty;
// An enum whose zero is a choice.
enum Mode {
  // Off.
  MODE_OFF = 0;
}
// Bytes first.
message Item {
  // The bytes.
  bytes data = 1;
  string uncommented = 2;
  // A count.
  uint64 count = 3;
}
// Paged by half.
message ListItemsRequest {
  // At most so many.
  int32 page_size = 1;
}
// A service.
service Items {
  // Lists.
  rpc ListItems(ListItemsRequest) returns (Item);
}
"""
FAULTS = {
    "without_comment": ["field faulty.Item.uncommented has no comment"],
    "rpcs_without_errors": ["rpc faulty.Items.ListItems does not tell its errors"],
    "rpcs_without_idempotency":
        ["rpc faulty.Items.ListItems does not tell whether it is idempotent"],
    "enums_with_a_meaningful_zero": ["enum faulty.Mode has the zero value MODE_OFF"],
    "small_fields_after_bulk": ["field faulty.Item.uncommented comes after bulk bytes",
                                "field faulty.Item.count comes after bulk bytes"],
    "half_paged_messages": ["rpc faulty.Items.ListItems is paged by half"],
    "unsigned_fields": ["field faulty.Item.count is unsigned"],
}


def load_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "faulty.proto")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return api_rules.Schema(folder, [path])


def recorded():
    with open(RECORD, encoding="utf-8") as file:
        return file.read().splitlines()


def numbers_of(schema, scope):
    return {line.split(" = ")[0][len(scope) + 1:]: int(line.split(" = ")[1].split()[0])
            for line in api_rules.numbers(schema)
            if " = " in line and line.startswith(scope + ".")
            and "." not in line.split(" = ")[0][len(scope) + 1:]}


class Rules(unittest.TestCase):
    def test_the_api_breaks_no_rule(self):
        for rule in api_rules.RULES:
            with self.subTest(rule.__name__):
                self.assertEqual(list(rule(API)), [])

    def test_every_rule_finds_its_fault(self):
        faulty = load_text(FAULTY)
        found = {rule.__name__: list(rule(faulty)) for rule in api_rules.RULES}
        self.assertEqual(found, FAULTS)

    def test_the_other_files_have_comments_too(self):
        self.assertEqual(list(api_rules.without_comment(OTHERS)), [])

    def test_the_schema_is_the_whole_api(self):
        services = {s.descriptor.name for s in API.of_kind("service")}
        self.assertEqual(services, {"GraphService", "ExecutionService", "TensorService",
                                    "SessionService", "DeviceService", "ProfileService"})


class Promises(unittest.TestCase):
    BEFORE = 'syntax = "proto3"; package p; message M { string a = 1; int32 b = 2; }'

    def broken(self, after):
        before = api_rules.numbers(load_text(self.BEFORE))
        return list(api_rules.broken_promises(before, load_text(after)))

    def test_no_number_of_the_api_has_changed(self):
        self.assertEqual(list(api_rules.broken_promises(recorded(), API)), [])

    def test_a_reused_number_is_found(self):
        self.assertEqual(self.broken(self.BEFORE.replace("string a", "string c")),
                         ["gone or changed: p.M.a = 1 string", "new, not recorded: p.M.c = 1 string"])

    def test_a_changed_type_is_found(self):
        self.assertIn("gone or changed: p.M.b = 2 int32",
                      self.broken(self.BEFORE.replace("int32 b", "int64 b")))

    def test_a_field_may_go_when_its_number_and_name_are_reserved(self):
        self.assertEqual(
            self.broken(self.BEFORE.replace("string a = 1;", 'reserved 1; reserved "a";')), [])
        self.assertEqual(self.broken(self.BEFORE.replace("string a = 1;", "reserved 1;")),
                         ["gone or changed: p.M.a = 1 string"])


class Numbers(unittest.TestCase):
    def test_dtypes_have_the_numbers_of_onnx(self):
        renamed = {"UNDEFINED": "UNSPECIFIED", "FLOAT": "FLOAT32", "DOUBLE": "FLOAT64"}
        onnx = numbers_of(OTHERS, "tensord.onnx.TensorProto.DataType")
        expected = {f"DTYPE_{renamed.get(name, name)}": number for name, number in onnx.items()}
        self.assertEqual(numbers_of(API, "tensord.v1.DType"), expected)
        self.assertEqual(max(expected.values()), 26)

    def test_the_wire_form_of_a_submission_is_the_api_form(self):
        self.assertEqual(numbers_of(OTHERS, "tensord.wire.SubmitGraphRequest"),
                         numbers_of(API, "tensord.v1.SubmitGraphRequest"))

    def test_google_rpc_has_the_public_numbers(self):
        public = {
            "Status": {"code": 1, "message": 2, "details": 3},
            "ErrorInfo": {"reason": 1, "domain": 2, "metadata": 3},
            "RetryInfo": {"retry_delay": 1},
            "QuotaFailure": {"violations": 1},
            "QuotaFailure.Violation": {"subject": 1, "description": 2},
            "PreconditionFailure": {"violations": 1},
            "PreconditionFailure.Violation": {"type": 1, "subject": 2, "description": 3},
            "BadRequest": {"field_violations": 1},
            "BadRequest.FieldViolation": {"field": 1, "description": 2},
            "RequestInfo": {"request_id": 1, "serving_data": 2},
            "ResourceInfo": {"resource_type": 1, "resource_name": 2, "owner": 3, "description": 4},
        }
        for name, expected in public.items():
            with self.subTest(name):
                self.assertEqual(numbers_of(OTHERS, f"google.rpc.{name}"), expected)

    def test_the_graph_id_of_the_comment_is_what_the_comment_says(self):
        hashed = (b"tensord-graph-1\n" + bytes([2]) + hashlib.sha256(b"abc").digest()
                  + bytes([1, 0]) + struct.pack("<II", 0, 0))
        with open(os.path.join(ROOT, "tensord/v1/graph_service.proto"), encoding="utf-8") as file:
            self.assertIn(hashlib.sha256(hashed).hexdigest(), file.read())


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        with open(RECORD, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in api_rules.numbers(API))
    else:
        unittest.main()
