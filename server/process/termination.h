#ifndef TENSORD_SERVER_PROCESS_TERMINATION_H_
#define TENSORD_SERVER_PROCESS_TERMINATION_H_

namespace tensord {

// SIGTERM and SIGINT as an event: the first ends AwaitTermination(), a second
// ends the process at once with status 1, for whoever cannot wait for a drain.
//
// Threading: BlockTerminationSignals() comes before any other thread is there,
//   since threads inherit the mask; AwaitTermination() is for one thread, once.

// Also ignores SIGPIPE: a client that goes away is an error of a write.
void BlockTerminationSignals();

// Returns at the first signal, with its name.
const char* AwaitTermination();

}  // namespace tensord

#endif  // TENSORD_SERVER_PROCESS_TERMINATION_H_
