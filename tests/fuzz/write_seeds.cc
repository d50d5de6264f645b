// fuzz_seeds FOLDER [MODEL...]: writes FOLDER/graph_fuzzer/* and
// FOLDER/onnx_fuzzer/*, one file a seed. The models are ONNX files to add, each
// in a folder of its own that names it.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/encode_graph.h"
#include "tests/fuzz/function_seed.h"
#include "tests/fuzz/seed_graphs.h"

namespace {

bool Write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER [MODEL...]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::error_code error;
  for (const char* name : {"graph_fuzzer", "onnx_fuzzer"}) {
    std::filesystem::create_directories(folder / name, error);
  }
  bool is_written = true;
  for (const tensord::SeedGraph& seed : tensord::SeedGraphs()) {
    is_written &= Write(folder / "graph_fuzzer" / seed.name,
                        tensord::EncodeGraph(seed.def));
    is_written &= Write(folder / "onnx_fuzzer" / seed.name,
                        tensord::EncodeOnnx(seed.def));
  }
  is_written &=
      Write(folder / "onnx_fuzzer" / "functions", tensord::OnnxWithFunctions());
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path model = argv[i];
    const std::string name = model.parent_path().filename().string();
    std::filesystem::copy_file(
        model, folder / "onnx_fuzzer" / ("model_" + name),
        std::filesystem::copy_options::overwrite_existing, error);
    if (error) {
      std::fprintf(stderr, "cannot copy %s: %s\n", model.c_str(),
                   error.message().c_str());
      is_written = false;
    }
  }
  return is_written ? 0 : 1;
}
