# Debian's packages. tensord_absl is all of Abseil that the core uses, so that no module lists it again.

find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)

add_library(tensord_absl INTERFACE)
target_link_libraries(tensord_absl INTERFACE
  absl::algorithm_container absl::any_invocable absl::base absl::bits absl::btree absl::cleanup
  absl::core_headers absl::fixed_array absl::flat_hash_map absl::flat_hash_set absl::function_ref
  absl::hash absl::inlined_vector absl::int128 absl::memory absl::node_hash_map absl::optional
  absl::random_random absl::span absl::status absl::statusor absl::str_format absl::strings
  absl::synchronization absl::time absl::variant Threads::Threads)

if(NOT TENSORD_CORE_ONLY)
  # gRPC's configuration file reports success without protobuf, so protobuf comes first.
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_package(OpenSSL REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(prometheus-cpp CONFIG REQUIRED)
  find_package(spdlog CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(yaml-cpp CONFIG REQUIRED)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()
