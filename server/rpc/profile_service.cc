#include "server/rpc/profile_service.h"

#include <string>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/profile_messages.h"
#include "server/rpc/profile_watch.h"
#include "server/rpc/time_messages.h"
#include "server/rpc/unary_call.h"
#include "tensord/v1/profile_service.pb.h"

namespace tensord {
namespace {

constexpr int32_t kMaxSampleEvery = 1'000'000;

using Get = UnaryCall<v1::GetOpProfileRequest, v1::OpProfile>;
using Configure = UnaryCall<v1::ConfigureOpProfileRequest, v1::OpProfileConfig>;

// One start of the daemon.
struct Incarnation {
  std::string name;
  absl::Time start;
};

Incarnation NewIncarnation() {
  absl::BitGen bits;
  return {absl::StrFormat("%016x", absl::Uniform<uint64_t>(bits)), absl::Now()};
}

void ReadNow(const ServiceEnvironment& environment,
             const Incarnation& incarnation, bool omit_kernels,
             bool omit_phases, v1::OpProfile& profile) {
  profile.set_incarnation(incarnation.name);
  FillTime(incarnation.start, *profile.mutable_start_time());
  FillOpProfile(environment.profile.Snapshot(), environment.phases.Snapshot(),
                omit_kernels, omit_phases, profile);
}

absl::Status GetOpProfile(const ServiceEnvironment& environment,
                          const Incarnation& incarnation,
                          const v1::GetOpProfileRequest& request,
                          v1::OpProfile& profile) {
  if (request.has_since() &&
      request.since().incarnation() != incarnation.name) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition,
                           v1::PROFILE_RESTARTED,
                           "`since` is of another start of the daemon; ask "
                           "without it once",
                           {{"incarnation", incarnation.name}});
  }
  ReadNow(environment, incarnation, request.omit_kernels(),
          request.omit_phases(), profile);
  return request.has_since() ? Subtract(request.since(), profile)
                             : absl::OkStatus();
}

absl::Status ConfigureOpProfile(const ServiceEnvironment& environment,
                                const v1::ConfigureOpProfileRequest& request,
                                v1::OpProfileConfig& message) {
  op_profile::ProfileConfig config = environment.profile.config();
  switch (request.mode()) {
    case v1::OP_PROFILE_MODE_UNSPECIFIED:
      break;
    case v1::OP_PROFILE_MODE_OFF:
      config.mode = op_profile::Mode::kOff;
      break;
    case v1::OP_PROFILE_MODE_SAMPLED:
      config.mode = op_profile::Mode::kSampled;
      break;
    case v1::OP_PROFILE_MODE_FULL:
      config.mode = op_profile::Mode::kFull;
      break;
    default:
      return BadField("mode", absl::StrCat("there is none of number ",
                                           static_cast<int>(request.mode())));
  }
  if (request.has_sample_every()) {
    if (request.sample_every() < 1 ||
        request.sample_every() > kMaxSampleEvery) {
      return BadField(
          "sample_every",
          absl::StrCat(request.sample_every(), " is out of range; give 1 to ",
                       kMaxSampleEvery));
    }
    config.sample_every = static_cast<uint32_t>(request.sample_every());
  }
  if (request.mode() != v1::OP_PROFILE_MODE_UNSPECIFIED ||
      request.has_sample_every()) {
    TENSORD_RETURN_IF_ERROR(environment.profile.Configure(config));
  }
  const op_profile::ProfileSnapshot now = environment.profile.Snapshot();
  FillConfig(now.config, now.epoch, now.epoch_start, message);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<RawService> MakeProfileService(
    const ServiceEnvironment& environment) {
  const Incarnation incarnation = NewIncarnation();
  auto service = std::make_unique<RawService>(
      environment, *v1::OpProfile::descriptor()->file()->service(0));
  service->SetUnary(
      "GetOpProfile",
      Get::BindDirect(service->record("GetOpProfile"),
                      [&environment, incarnation](
                          Get&, const v1::GetOpProfileRequest& request,
                          v1::OpProfile& profile) {
                        return GetOpProfile(environment, incarnation, request,
                                            profile);
                      }));
  service->SetServerStream(
      "WatchOpProfile",
      MakeWatchHandler(
          service->record("WatchOpProfile"),
          [&environment, incarnation](const v1::WatchOpProfileRequest& request,
                                      v1::OpProfile& profile) {
            ReadNow(environment, incarnation, request.omit_kernels(),
                    request.omit_phases(), profile);
          }));
  service->SetUnary(
      "ConfigureOpProfile",
      Configure::BindDirect(
          service->record("ConfigureOpProfile"),
          [&environment](Configure&,
                         const v1::ConfigureOpProfileRequest& request,
                         v1::OpProfileConfig& config) {
            return ConfigureOpProfile(environment, request, config);
          }));
  return service;
}

}  // namespace tensord
