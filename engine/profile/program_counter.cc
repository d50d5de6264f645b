#include "engine/profile/program_counter.h"

#include "engine/profile/op_profile.h"

namespace tensord::op_profile {

ProgramCounter::~ProgramCounter() { profile_.Retire(*this); }

}  // namespace tensord::op_profile
