#include "clients/cpp/leave_process.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace tensord {

void LeaveProcess(int exit_code) {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace tensord
