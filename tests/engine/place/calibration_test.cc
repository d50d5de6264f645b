#include "engine/place/calibration.h"

#include <cmath>
#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/place/device_rates.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"

namespace tensord {
namespace {

CalibrationLimits AMinute() {
  return {.deadline = absl::Now() + absl::Minutes(1),
          .hang_timeout = absl::Minutes(1)};
}

CalibrationLimits Soon() {
  return {.deadline = absl::Now() + absl::Milliseconds(20),
          .hang_timeout = absl::Milliseconds(20)};
}

bool IsRounded(double rate) {
  const double exponent = 2 * std::log2(rate);
  return std::abs(exponent - std::round(exponent)) < 1e-9;
}

TEST(Calibration, RatesAreRoundedToPowersOfTheRootOfTwo) {
  EXPECT_DOUBLE_EQ(RoundedRate(64), 64);
  EXPECT_DOUBLE_EQ(RoundedRate(75), 64);
  EXPECT_DOUBLE_EQ(RoundedRate(80), 64 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(RoundedRate(0.26), 0.25);
}

TEST(Calibration, TheProcessorsRatesAreMeasured) {
  HostWorkerPool workers(1);
  const std::unique_ptr<Backend> backend =
      MakeCpuBackend({.workers = &workers});
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(*backend).ok());
  const std::unique_ptr<Device> device = *backend->OpenDevice(0);
  const auto info = CalibrateDevice(*device, table, &workers, AMinute()).info;
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->id, device->info().id);
  for (double rate :
       {info->flops_per_ns, info->bytes_per_ns, info->launch_overhead_ns,
        info->copy_bytes_per_ns, info->copy_latency_ns}) {
    EXPECT_TRUE(IsRounded(rate)) << rate;
  }
  // What no machine is beyond, sanitizers included.
  EXPECT_GT(info->flops_per_ns, 0.01);
  EXPECT_LT(info->flops_per_ns, 1e4);
  EXPECT_GT(info->bytes_per_ns, 0.01);
  EXPECT_LT(info->bytes_per_ns, 1e4);
  // Everything that was measured with is free again.
  EXPECT_EQ(device->allocated_bytes(), 0);
}

TEST(Calibration, AnAsynchronousDeviceIsWaitedFor) {
  FakeBackend backend(BackendId::kCuda);
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(backend).ok());
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  const auto info = CalibrateDevice(*device, table, nullptr, AMinute()).info;
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(backend.control(0).counts().dropped_in_flight, 0);
}

TEST(Calibration, ADeviceThatFaultsIsToldWithItsOwnError) {
  FakeBackend backend(BackendId::kCuda);
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(backend).ok());
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  backend.control(0).FailLaunch(3);
  const auto info = CalibrateDevice(*device, table, nullptr, AMinute()).info;
  EXPECT_TRUE(absl::IsUnavailable(info.status())) << info.status();
  EXPECT_EQ(backend.control(0).counts().dropped_in_flight, 0);
}

TEST(Calibration, ADeviceThatHangsIsLeftWithWhatItUses) {
  FakeBackend backend(BackendId::kCuda);
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(backend).ok());
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  backend.control(0).HangLaunch(3);
  Calibration calibration = CalibrateDevice(*device, table, nullptr, Soon());
  EXPECT_TRUE(absl::IsUnavailable(calibration.info.status()))
      << calibration.info.status();
  ASSERT_NE(calibration.in_use, nullptr);
  EXPECT_GE(backend.control(0).counts().storages_alive, 3);
  backend.control(0).ReleaseHang();
  calibration.in_use.reset();
  EXPECT_EQ(backend.control(0).counts().dropped_in_flight, 0);
  EXPECT_EQ(backend.control(0).counts().storages_alive, 0);
}

TEST(Calibration, ACopyThatIsUnderWayKeepsItsMemory) {
  FakeBackend backend(BackendId::kCuda);
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(backend).ok());
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  Calibration calibration;
  {
    FakePause pause(backend.control(0));
    calibration = CalibrateDevice(*device, table, nullptr, Soon());
    EXPECT_NE(calibration.in_use, nullptr) << calibration.info.status();
  }
  calibration.in_use.reset();
  EXPECT_EQ(backend.control(0).counts().dropped_in_flight, 0);
}

TEST(Calibration, AMeasurementIsNotFarFromWhatTheDeviceSupposes) {
  FakeBackend backend(BackendId::kCuda);
  KernelBindingTable table;
  ASSERT_TRUE(table.AddBackend(backend).ok());
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  // It supposes 1000, and three loops of one processor are far from that.
  const auto info = CalibrateDevice(*device, table, nullptr, AMinute()).info;
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->flops_per_ns,
            RoundedRate(device->info().flops_per_ns / kMaxRateFactor));
}

TEST(DeviceRates, WhatWasNotMeasuredIsWhatTheDeviceSays) {
  FakeBackend backend(BackendId::kCuda, {.device_count = 2});
  const std::unique_ptr<Device> first = *backend.OpenDevice(0);
  const std::unique_ptr<Device> second = *backend.OpenDevice(1);
  DeviceInfo measured = first->info();
  measured.flops_per_ns = 7;
  DeviceRates rates;
  rates.Set(measured);
  EXPECT_EQ(rates.Of(*first).flops_per_ns, 7);
  EXPECT_EQ(rates.Of(*second).flops_per_ns, second->info().flops_per_ns);
}

}  // namespace
}  // namespace tensord
