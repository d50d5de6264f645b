// Sessions, tensors and executions without a server: limits, times, and a storm
// of all at once.

#include "server/sessions/holdings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/limit_exceeded.h"
#include "server/sessions/resource_error.h"
#include "server/sessions/resource_id.h"

namespace tensord {
namespace {

constexpr absl::string_view kMe = "me";

std::string ReasonOf(const absl::Status& status) {
  const auto error = ResourceError::FromStatus(status);
  return error.has_value() ? error->reason : "";
}

std::string LimitOf(const absl::Status& status) {
  const auto limit = LimitDetails::FromStatus(status);
  return limit.has_value() ? limit->limit : "";
}

class HoldingsTest : public ::testing::Test {
 protected:
  HoldingsTest() {
    options_.sessions.instance = "here";
    options_.sessions.max_sessions = 3;
    options_.sessions.limits.max_executions = 2;
    options_.sessions.limits.max_requests = 3;
    options_.sessions.limits.max_bytes = 1000;
    options_.sessions.limits.max_all_bytes = 1500;
    options_.executions.instance = "here";
    options_.executions.max_result_bytes = 1000;
    options_.executions.max_ended_records = 4;
    // Tests sweep by themselves.
    options_.sweep_interval = absl::Hours(1);
  }

  Holdings& holdings() {
    if (holdings_ == nullptr) {
      holdings_ = std::make_unique<Holdings>(
          options_, Holdings::Runs{.cancel =
                                       [this](ExecutionRecord& record) {
                                         cancelled_.push_back(record.id());
                                       },
                                   .await_all = [] {}});
    }
    return *holdings_;
  }

  std::shared_ptr<Session> NewSession() {
    return *holdings().sessions.Create(kMe, "", std::nullopt, now_);
  }

  absl::StatusOr<ExecutionTable::Begun> Begin(
      const std::shared_ptr<Session>& session,
      const std::string& request_id = "", const std::string& fingerprint = "") {
    return holdings().executions.Begin(
        {.request_id = request_id, .fingerprint = fingerprint}, session, now_);
  }

  std::vector<KeptOutput> Output(size_t bytes) {
    std::vector<KeptOutput> outputs(1);
    outputs[0].bytes =
        std::make_shared<const PooledBuffer>(*pool_.Allocate(bytes));
    return outputs;
  }

  void End(const ExecutionTable::Pointer& record, absl::Status status = {},
           size_t bytes = 0, bool is_refused = false) {
    holdings().executions.End(record, status, Output(bytes), is_refused, now_);
  }

  absl::StatusOr<TensorTable::Pointer> AddTensor(
      const std::shared_ptr<Session>& session, size_t bytes) {
    absl::StatusOr<Session::Lease> lease = Session::Take(session, bytes);
    if (!lease.ok()) return lease.status();
    ResidentTensor::Description description;
    description.id = NewResourceId("here");
    description.create_time = now_;
    description.time_to_live = absl::Minutes(1);
    auto tensor = std::make_shared<const ResidentTensor>(
        description, session, *std::move(lease),
        std::make_shared<const PooledBuffer>(*pool_.Allocate(bytes)));
    absl::Status status = holdings().tensors.Add(tensor);
    if (!status.ok()) return status;
    return TensorTable::Pointer(tensor);
  }

  BufferPool pool_{1 << 20};
  Holdings::Options options_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(24);
  std::vector<std::string> cancelled_;
  std::unique_ptr<Holdings> holdings_;
};

TEST_F(HoldingsTest, IdsAreOfTheirInstanceAndOfTheirForm) {
  const std::string id = NewResourceId("here");
  EXPECT_TRUE(CheckResourceId("tensor", id, "here").ok());
  EXPECT_EQ(ReasonOf(CheckResourceId("tensor", id, "there")), "WRONG_INSTANCE");
  for (const char* wrong :
       {"", ".", "here.", "here.aaaa", "here.AAAA",
        "HERE.aaaaaaaaaaaaaaaaaaaaaaaaaa", ".aaaaaaaaaaaaaaaaaaaaaaaaaa",
        "here.aaaaaaaaaaaaaaaaaaaaaaaaa1"}) {
    EXPECT_EQ(CheckResourceId("tensor", wrong, "here").code(),
              absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

TEST_F(HoldingsTest, ASessionIsItsPrincipalsAlone) {
  const auto session = NewSession();
  EXPECT_TRUE(holdings().sessions.Find(session->id(), kMe, now_).ok());
  EXPECT_EQ(
      holdings().sessions.Find(session->id(), "you", now_).status().code(),
      absl::StatusCode::kNotFound);
  const auto tensor = AddTensor(session, 1);
  EXPECT_FALSE(holdings().tensors.Find((*tensor)->id(), "you", now_).ok());
  const auto run = Begin(session);
  EXPECT_FALSE(holdings().executions.Find(run->record->id(), "you").ok());
  End(run->record);
}

TEST_F(HoldingsTest, ASessionLivesOnWhileItIsUsedOrRuns) {
  const auto session = NewSession();
  const absl::Duration lives = session->description().time_to_live;
  now_ += lives - absl::Seconds(1);
  EXPECT_TRUE(holdings().sessions.Find(session->id(), kMe, now_).ok());
  now_ += lives - absl::Seconds(1);
  const auto run = Begin(session);
  now_ += 2 * lives;
  holdings().Sweep(now_);
  EXPECT_EQ(holdings().sessions.count(), 1);
  End(run->record);
  now_ += lives;
  holdings().Sweep(now_);
  EXPECT_EQ(holdings().sessions.count(), 0);
  EXPECT_TRUE(session->is_closed());
  EXPECT_EQ(ReasonOf(Begin(session).status()), "SESSION_CLOSED");
  EXPECT_EQ(ReasonOf(AddTensor(session, 1).status()), "SESSION_CLOSED");
}

TEST_F(HoldingsTest, AFullPrincipalLosesOnlyUnusedSessionsOfConnections) {
  SessionTable& sessions = holdings().sessions;
  const auto used = *sessions.OfConnection(kMe, "1", now_);
  const auto tensor = AddTensor(used, 1);
  ASSERT_TRUE(sessions.OfConnection(kMe, "2", now_).ok());
  NewSession();
  EXPECT_EQ(sessions.count(), 3);
  // "2" has nothing, so it goes.
  NewSession();
  EXPECT_EQ(sessions.count(), 3);
  EXPECT_EQ(LimitOf(sessions.Create(kMe, "", std::nullopt, now_).status()),
            "max_sessions");
  EXPECT_EQ(*sessions.OfConnection(kMe, "1", now_), used);
  EXPECT_EQ(LimitOf(sessions.OfConnection(kMe, "2", now_).status()),
            "max_sessions");
  EXPECT_TRUE(sessions.Create("you", "", std::nullopt, now_).ok());
}

TEST_F(HoldingsTest, BytesComeBackWithTheLastUser) {
  const auto session = NewSession();
  auto tensor = AddTensor(session, 1000);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(LimitOf(AddTensor(session, 1).status()), "max_session_bytes");
  EXPECT_EQ(LimitOf(AddTensor(NewSession(), 501).status()),
            "max_resident_bytes");
  ASSERT_TRUE(holdings().tensors.Remove((*tensor)->id(), kMe, now_).ok());
  // A run still has it.
  EXPECT_EQ(session->resident_bytes(), 1000u);
  tensor = absl::CancelledError();
  EXPECT_EQ(session->resident_bytes(), 0u);
  EXPECT_EQ(holdings().sessions.resident_bytes().count(), 0u);
}

TEST_F(HoldingsTest, AConsumedTensorIsToldAsOneUntilItIsRestored) {
  const auto session = NewSession();
  const std::string id = (*AddTensor(session, 1))->id();
  TensorTable& tensors = holdings().tensors;
  auto consumed = tensors.Consume(id, kMe, "run", now_);
  ASSERT_TRUE(consumed.ok());
  EXPECT_EQ(ReasonOf(tensors.Find(id, kMe, now_).status()), "TENSOR_CONSUMED");
  EXPECT_EQ(tensors.Find(id, "you", now_).status().code(),
            absl::StatusCode::kNotFound);
  tensors.Restore(*consumed);
  EXPECT_TRUE(tensors.Find(id, kMe, now_).ok());
  EXPECT_EQ(session->owned_count(), 1);
}

TEST_F(HoldingsTest, ATensorExpiresAfterItsLastUse) {
  const auto session = NewSession();
  const std::string id = (*AddTensor(session, 1))->id();
  now_ += absl::Seconds(59);
  EXPECT_TRUE(holdings().tensors.Find(id, kMe, now_).ok());
  now_ += absl::Seconds(59);
  EXPECT_TRUE(holdings().tensors.Find(id, kMe, now_, /*is_use=*/false).ok());
  now_ += absl::Seconds(2);
  // Also before it is swept.
  EXPECT_FALSE(holdings().tensors.Find(id, kMe, now_).ok());
  holdings().Sweep(now_);
  EXPECT_EQ(holdings().tensors.count(), 0);
  EXPECT_EQ(session->resident_bytes(), 0u);
}

TEST_F(HoldingsTest, ARequestIdIsOneRunForAllItsTime) {
  const auto session = NewSession();
  const auto first = Begin(session, "r", "print");
  ASSERT_TRUE(first.ok());
  auto again = Begin(session, "r", "print");
  EXPECT_TRUE(again->is_replay);
  EXPECT_EQ(again->record, first->record);
  EXPECT_EQ(ReasonOf(Begin(session, "r", "other").status()),
            "REQUEST_ID_REUSED");
  End(first->record);
  EXPECT_TRUE(Begin(session, "r", "print")->is_replay);
  now_ += absl::Minutes(9);
  holdings().sessions.Find(session->id(), kMe, now_).IgnoreError();
  now_ += absl::Minutes(9);
  holdings().sessions.Find(session->id(), kMe, now_).IgnoreError();
  now_ += absl::Minutes(9);
  holdings().Sweep(now_);
  EXPECT_EQ(holdings().executions.count(), 0);
  EXPECT_EQ(ReasonOf(Begin(session, "r", "print").status()), "RESULT_EXPIRED");
}

TEST_F(HoldingsTest, ARefusedRequestIdMayBeTriedAgain) {
  const auto session = NewSession();
  const auto first = Begin(session, "r", "print");
  End(first->record, absl::ResourceExhaustedError("full"), 0,
      /*is_refused=*/true);
  const auto again = Begin(session, "r", "other");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->is_replay);
  End(again->record);
}

TEST_F(HoldingsTest, RequestIdsAreCounted) {
  const auto session = NewSession();
  for (int i = 0; i < 3; ++i) End(Begin(session, absl::StrCat(i))->record);
  EXPECT_EQ(LimitOf(Begin(session, "3").status()), "max_session_requests");
  EXPECT_TRUE(Begin(session, "2")->is_replay);
}

TEST_F(HoldingsTest, TheOldestResultsGoWhenThereAreTooManyBytes) {
  const auto session = NewSession();
  std::vector<ExecutionTable::Pointer> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(Begin(session)->record);
    End(runs.back(), absl::OkStatus(), 400);
  }
  EXPECT_EQ(ReasonOf(runs[0]->Outputs().status()), "RESULT_EXPIRED");
  EXPECT_EQ(runs[0]->Look().state, ExecutionState::kSucceeded);
  EXPECT_TRUE(runs[1]->Outputs().ok());
  EXPECT_TRUE(runs[2]->Outputs().ok());
  EXPECT_EQ(holdings().executions.result_bytes(), 800u);
  for (int i = 0; i < 4; ++i) End(Begin(session)->record);
  // Of records there are four.
  EXPECT_EQ(holdings().executions.count(), 4);
  EXPECT_EQ(holdings().executions.result_bytes(), 0u);
}

TEST_F(HoldingsTest, WaitersGetAResultThatIsTooLargeToKeep) {
  const auto run = Begin(NewSession())->record;
  bool is_there = false;
  run->WhenEnded([&] { is_there = run->Outputs().ok(); });
  End(run, absl::OkStatus(), 2000);
  EXPECT_TRUE(is_there);
  EXPECT_FALSE(run->Outputs().ok());
}

TEST_F(HoldingsTest, AWaiterIsCalledOnceOrForgotten) {
  const auto run = Begin(NewSession())->record;
  int calls = 0;
  const auto first = run->WhenEnded([&] { ++calls; });
  const auto second = run->WhenEnded([&] { ++calls; });
  EXPECT_TRUE(run->Forget(first));
  EXPECT_FALSE(run->Forget(first));
  End(run);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(run->Forget(second));
  EXPECT_EQ(run->WhenEnded([&] { ++calls; }), ExecutionRecord::kNone);
  EXPECT_EQ(calls, 2);
}

TEST_F(HoldingsTest, AClosedSessionCancelsAndIsIdleWhenTheLastRunEnds) {
  const auto session = NewSession();
  ASSERT_TRUE(Begin(session).ok());
  ASSERT_TRUE(Begin(session).ok());
  EXPECT_EQ(LimitOf(Begin(session).status()), "max_session_executions");
  ASSERT_TRUE(holdings().sessions.Take(session->id(), kMe, now_).ok());
  EXPECT_EQ(holdings().End(*session).cancelled_executions, 2);
  EXPECT_EQ(cancelled_.size(), 2u);
  bool is_idle = false;
  session->WhenIdle([&] { is_idle = true; });
  for (const std::string& id : cancelled_) {
    EXPECT_FALSE(is_idle);
    End(*holdings().executions.Find(id, kMe), absl::CancelledError(""));
  }
  EXPECT_TRUE(is_idle);
  EXPECT_EQ(holdings().executions.count(), 0);
}

TEST_F(HoldingsTest, UploadsGoOnWhereTheyWere) {
  const auto session = NewSession();
  TensorUpload::Header header;
  header.dtype = DType::kUInt8;
  header.shape = *Shape::Create({10});
  header.size_bytes = 10;
  const auto open = [&](uint64_t offset) {
    return holdings().uploads.Open(
        session, "u", header, offset,
        [&]() -> absl::StatusOr<PartialUploads::Pointer> {
          auto lease = Session::Take(session, 10);
          if (!lease.ok()) return lease.status();
          return std::make_shared<TensorUpload>(header, *std::move(lease),
                                                *pool_.Allocate(10));
        });
  };
  EXPECT_FALSE(open(1).ok());
  auto upload = open(0);
  ASSERT_TRUE(upload.ok());
  (*upload)->Advance(4);
  EXPECT_EQ(open(4).status().code(), absl::StatusCode::kFailedPrecondition);
  upload->reset();
  holdings().uploads.Pause(*session, "u", now_);
  EXPECT_EQ(open(3).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(open(4).ok());
  holdings().uploads.Pause(*session, "u", now_);
  EXPECT_EQ(session->resident_bytes(), 10u);
  now_ += absl::Minutes(11);
  holdings().uploads.RemoveExpired(now_);
  EXPECT_EQ(session->resident_bytes(), 0u);
}

// --- The storm. Runs are ended by threads of their own, as an engine does it.

class FakeRuns {
 public:
  explicit FakeRuns(BufferPool& pool) : pool_(pool) {
    for (int i = 0; i < 2; ++i) {
      threads_.emplace_back([this, i] { Work(static_cast<uint64_t>(i)); });
    }
  }
  ~FakeRuns() {
    {
      absl::MutexLock lock(&mu_);
      is_stopping_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void Start(ExecutionTable::Pointer record) {
    absl::MutexLock lock(&mu_);
    runs_.push_back(std::move(record));
  }
  void AwaitAll() {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](FakeRuns* runs) ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return runs->runs_.empty() && runs->busy_ == 0;
        },
        this));
  }
  void SetTable(ExecutionTable* table) {
    absl::MutexLock lock(&mu_);
    table_ = table;
  }

 private:
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return is_stopping_ || !runs_.empty();
  }

  void Work(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (;;) {
      ExecutionTable::Pointer run;
      ExecutionTable* table;
      {
        absl::MutexLock lock(&mu_);
        mu_.Await(absl::Condition(this, &FakeRuns::HasWork));
        if (runs_.empty()) return;
        run = std::move(runs_.front());
        runs_.pop_front();
        ++busy_;
        table = table_;
      }
      run->execution.started_ns.store(absl::GetCurrentTimeNanos(),
                                      std::memory_order_release);
      std::vector<KeptOutput> outputs(1);
      outputs[0].bytes =
          std::make_shared<const PooledBuffer>(*pool_.Allocate(random() % 200));
      const bool is_cancelled = run->execution.is_cancelled.load();
      table->End(run,
                 is_cancelled ? absl::CancelledError("") : absl::OkStatus(),
                 std::move(outputs), random() % 16 == 0, absl::Now());
      run.reset();
      absl::MutexLock lock(&mu_);
      --busy_;
    }
  }

  BufferPool& pool_;
  absl::Mutex mu_;
  std::deque<ExecutionTable::Pointer> runs_ ABSL_GUARDED_BY(mu_);
  int busy_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  ExecutionTable* table_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<std::thread> threads_;
};

TEST(HoldingsStorm, EverythingAtOnceLeavesNothing) {
  const char* asked = std::getenv("TENSORD_STORM");
  const int rounds = asked != nullptr ? std::atoi(asked) : 500;
  BufferPool pool(1 << 20);
  FakeRuns runs(pool);
  Holdings::Options options;
  options.sessions.instance = options.executions.instance = "here";
  options.sessions.max_sessions = 50;
  options.sessions.limits.max_bytes = 4000;
  options.executions.max_ended_records = 20;
  options.executions.max_result_bytes = 1500;
  options.sweep_interval = absl::Milliseconds(1);
  auto holdings = std::make_unique<Holdings>(
      options, Holdings::Runs{.cancel =
                                  [](ExecutionRecord& record) {
                                    record.execution.is_cancelled.store(true);
                                  },
                              .await_all = [&] { runs.AwaitAll(); }});
  runs.SetTable(&holdings->executions);
  std::atomic<int64_t> waits_begun{0}, waits_ended{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      std::mt19937_64 random(static_cast<uint64_t>(c) + 100);
      std::vector<std::string> tensors, known;
      for (int i = 0; i < rounds; ++i) {
        const absl::Time now = absl::Now();
        auto session =
            random() % 2 == 0
                ? holdings->sessions.OfConnection(
                      kMe, absl::StrCat(random() % 5), now)
                : holdings->sessions.Create(kMe, "", std::nullopt, now);
        if (!session.ok()) continue;
        auto begun = holdings->executions.Begin(
            {.request_id = random() % 3 == 0 ? absl::StrCat(random() % 10) : "",
             .keep_result = absl::Milliseconds(random() % 20)},
            *session, now);
        if (begun.ok()) {
          known.push_back(begun->record->id());
          if (!begun->is_replay) runs.Start(begun->record);
          ++waits_begun;
          const auto waiter =
              begun->record->WhenEnded([&waits_ended] { ++waits_ended; });
          if (random() % 4 == 0 && begun->record->Forget(waiter)) {
            ++waits_ended;
          }
          if (random() % 4 == 0) begun->record->execution.is_cancelled = true;
        }
        auto lease = Session::Take(*session, random() % 300);
        if (lease.ok()) {
          ResidentTensor::Description description;
          description.id = NewResourceId("here");
          description.create_time = now;
          description.time_to_live = absl::Milliseconds(random() % 20);
          tensors.push_back(description.id);
          auto bytes = pool.Allocate(lease->bytes());
          holdings->tensors
              .Add(std::make_shared<const ResidentTensor>(
                  description, *session, *std::move(lease),
                  std::make_shared<const PooledBuffer>(*std::move(bytes))))
              .IgnoreError();
        }
        if (!tensors.empty()) {
          const std::string& id = tensors[random() % tensors.size()];
          auto consumed = holdings->tensors.Consume(id, kMe, "run", now);
          if (consumed.ok() && random() % 2 == 0) {
            holdings->tensors.Restore(*std::move(consumed));
          }
          holdings->tensors.Find(id, kMe, now).IgnoreError();
        }
        if (!known.empty()) {
          auto run =
              holdings->executions.Find(known[random() % known.size()], kMe);
          if (run.ok()) {
            (*run)->Look();
            (*run)->Outputs().IgnoreError();
          }
        }
        if (random() % 8 == 0) {
          auto taken = holdings->sessions.Take((*session)->id(), kMe, now);
          if (taken.ok()) holdings->End(**taken);
        }
        if (random() % 32 == 0) {
          holdings->executions.List(kMe, INT64_MAX, 10,
                                    [](const auto&) { return true; });
          holdings->tensors.List(kMe, INT64_MAX, 10, now,
                                 [](const auto&) { return true; });
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  runs.AwaitAll();
  EXPECT_EQ(waits_begun.load(), waits_ended.load());
  holdings->Sweep(absl::InfiniteFuture());
  EXPECT_EQ(holdings->sessions.count(), 0);
  EXPECT_EQ(holdings->tensors.count(), 0);
  EXPECT_EQ(holdings->executions.count(), 0);
  EXPECT_EQ(holdings->executions.result_bytes(), 0u);
  EXPECT_EQ(holdings->sessions.resident_bytes().count(), 0u);
  holdings.reset();
  EXPECT_EQ(pool.loaned_bytes(), 0u);
}

}  // namespace
}  // namespace tensord
