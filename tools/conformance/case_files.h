#ifndef TENSORD_TOOLS_CONFORMANCE_CASE_FILES_H_
#define TENSORD_TOOLS_CONFORMANCE_CASE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensord/v1/execution_service.pb.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/case_store.h"

namespace tensord::conformance {

// One folder test_data_set_K. Inputs have the names of the model's; outputs
// too, in the model's order.
struct DataSet {
  std::string name;
  std::vector<v1::ExecuteInput> inputs;
  std::vector<v1::ExecuteOutput> outputs;
};

// What the folder of a case holds.
struct CaseFiles {
  std::string model;
  std::vector<DataSet> sets;
};

// Reads a case of the store. input_K.pb is the K-th of the graph's inputs that
// are not also initializers, output_K.pb the K-th of its outputs; each is a
// TensorProto, or a SequenceProto or an OptionalProto where the graph's type
// says so.
//
// Errors: kUnimplemented for a value that the API does not carry (a map, a
// sparse tensor, a sequence of sequences); kInvalidArgument, with the path, for
// everything else.
absl::StatusOr<CaseFiles> ReadCaseFiles(const CaseStore& store, const Case& of);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_CASE_FILES_H_
