#include "server/process/termination.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace tensord {
namespace {

sigset_t TerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

int AwaitSignal() {
  const sigset_t signals = TerminationSignals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

}  // namespace

void BlockTerminationSignals() {
  const sigset_t signals = TerminationSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

const char* AwaitTermination() {
  const int signal = AwaitSignal();
  std::thread([] {
    AwaitSignal();
    _exit(1);
  }).detach();
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

}  // namespace tensord
