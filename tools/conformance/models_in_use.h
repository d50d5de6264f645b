#ifndef TENSORD_TOOLS_CONFORMANCE_MODELS_IN_USE_H_
#define TENSORD_TOOLS_CONFORMANCE_MODELS_IN_USE_H_

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace tensord::conformance {

// The models of the cases in flight. Several cases have the same bytes, so the
// same graph id: the one that ends first would delete the other's graph.
//
// Threading: thread-safe.
class ModelsInUse {
 public:
  // Waits until no other case has the model.
  void Take(const std::string& model) {
    absl::MutexLock lock(&mu_);
    const auto is_free = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !models_.contains(model);
    };
    mu_.Await(absl::Condition(&is_free));
    models_.insert(model);
  }
  void Release(const std::string& model) {
    absl::MutexLock lock(&mu_);
    models_.erase(model);
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<std::string> models_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_MODELS_IN_USE_H_
