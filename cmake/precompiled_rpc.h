// The same for what speaks gRPC.

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include "cmake/precompiled.h"
