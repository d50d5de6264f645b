#ifndef TENSORD_ENGINE_POOL_LOW_PRIORITY_H_
#define TENSORD_ENGINE_POOL_LOW_PRIORITY_H_

namespace tensord {

// Puts the calling thread behind all others: for what no client waits for, or
// not as for an execution. Best effort: an operating system that refuses leaves
// the thread as it was.
void LowerPriority();

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_LOW_PRIORITY_H_
