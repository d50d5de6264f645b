// The same for tests of what speaks gRPC.

#include "cmake/precompiled_rpc.h"
#include "cmake/precompiled_test.h"
