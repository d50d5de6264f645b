#ifndef TENSORD_ENGINE_COMPILED_GROWTH_OBSERVER_H_
#define TENSORD_ENGINE_COMPILED_GROWTH_OBSERVER_H_

namespace tensord {

// Who is told that a run has left something in its compiled graph: a segment or
// a stage for the next run.
//
// Threading: called on the run's thread, without a lock, and must not block.
class GrowthObserver {
 public:
  virtual void OnGrowth() = 0;

 protected:
  ~GrowthObserver() = default;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_GROWTH_OBSERVER_H_
