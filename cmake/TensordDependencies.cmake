# Debian's packages. tensord_absl is all of Abseil that the core uses, so that no module lists it again.

find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(OpenSSL REQUIRED)

add_library(tensord_absl INTERFACE)
target_link_libraries(tensord_absl INTERFACE
  absl::algorithm_container absl::any_invocable absl::base absl::bits absl::btree absl::cleanup
  absl::core_headers absl::fixed_array absl::flat_hash_map absl::flat_hash_set absl::function_ref
  absl::hash absl::inlined_vector absl::int128 absl::memory absl::node_hash_map absl::optional
  absl::random_random absl::span absl::status absl::statusor absl::str_format absl::strings
  absl::synchronization absl::time absl::variant Threads::Threads)

if(TENSORD_SANITIZE MATCHES "thread")
  set(wrapper "${CMAKE_SOURCE_DIR}/cmake/tsan_abseil.cc")
  add_library(tensord_tsan_abseil STATIC "${wrapper}")
  target_link_libraries(tensord_tsan_abseil PUBLIC absl::synchronization absl::status absl::time)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${wrapper}")
  file(READ "${wrapper}" text)
  string(REGEX MATCHALL "TENSORD_WRAP\\([ \n]*[a-z]+,[ \n]+_ZN[A-Za-z0-9_]+" wrapped "${text}")
  foreach(entry IN LISTS wrapped)
    string(REGEX REPLACE ".*[ \n](_ZN[A-Za-z0-9_]+)" "\\1" symbol "${entry}")
    target_link_options(tensord_tsan_abseil INTERFACE "LINKER:--wrap=${symbol}")
  endforeach()
  target_link_libraries(tensord_absl INTERFACE tensord_tsan_abseil)
endif()

if(NOT TENSORD_CORE_ONLY)
  # gRPC's configuration file reports success without protobuf, so protobuf comes first.
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(prometheus-cpp CONFIG REQUIRED)
  find_package(spdlog CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(yaml-cpp CONFIG REQUIRED)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()
