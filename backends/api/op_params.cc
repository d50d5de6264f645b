#include "backends/api/op_params.h"

#include <utility>

namespace tensord {

OpParams::OpParams() = default;
OpParams::OpParams(const OpParams& other) = default;
OpParams::OpParams(OpParams&& other) noexcept = default;
OpParams& OpParams::operator=(const OpParams& other) = default;
OpParams& OpParams::operator=(OpParams&& other) noexcept = default;
OpParams::~OpParams() = default;

template <typename Params>
OpParams::OpParams(Params params)
    : variant(std::in_place_type<Params>, std::move(params)) {}

#define TENSORD_INSTANTIATE(name) template OpParams::OpParams(name params);
TENSORD_INSTANTIATE(NoParams)
TENSORD_OP_PARAMS(TENSORD_INSTANTIATE)
#undef TENSORD_INSTANTIATE

}  // namespace tensord
