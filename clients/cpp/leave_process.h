#ifndef TENSORD_CLIENTS_CPP_LEAVE_PROCESS_H_
#define TENSORD_CLIENTS_CPP_LEAVE_PROCESS_H_

namespace tensord {

// Flushes stdout and stderr and ends the process without destructors. After
// large writes, gRPC 1.51's shutdown often waits 10 s for a poller thread that
// has nothing left to do; a program that is done need not take part in that.
[[noreturn]] void LeaveProcess(int exit_code);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_LEAVE_PROCESS_H_
