#include "backends/api/content_digest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace tensord {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Filled(size_t size, int value) {
  return Bytes(size, static_cast<std::byte>(value));
}

TEST(ContentDigestsTest, EqualBytesHaveOneDigestWhereverTheyAre) {
  ContentDigests digests;
  const Bytes a = Filled(100, 1), b = Filled(100, 1), c = Filled(100, 2);
  EXPECT_EQ(digests.Of(a), digests.Of(b));
  EXPECT_NE(digests.Of(a), digests.Of(c));
  EXPECT_NE(digests.Of(a), digests.Of(absl::MakeConstSpan(a).first(99)));
}

TEST(ContentDigestsTest, BytesWithAnOwnerAreHashedOnce) {
  ContentDigests digests;
  const auto owner = std::make_shared<Bytes>(Filled(1 << 16, 3));
  digests.Remember(*owner, owner);
  const ContentDigest first = digests.Of(*owner);
  digests.Remember(*owner, owner);
  EXPECT_EQ(digests.Of(*owner), first);
  EXPECT_EQ(digests.hash_count(), 1);
  // A part of them is something else.
  EXPECT_NE(digests.Of(absl::MakeConstSpan(*owner).first(1 << 15)), first);
  EXPECT_EQ(digests.hash_count(), 2);
}

// The address is the same, which says nothing once the owner is gone.
TEST(ContentDigestsTest, AnAddressThatIsGivenOutAgainIsHashedAgain) {
  ContentDigests digests;
  Bytes memory = Filled(1 << 16, 3);
  auto owner = std::make_shared<int>(0);
  digests.Remember(memory, owner);
  const ContentDigest before = digests.Of(memory);
  owner.reset();
  memory = Filled(1 << 16, 4);
  EXPECT_NE(digests.Of(memory), before);
  owner = std::make_shared<int>(0);
  digests.Remember(memory, owner);
  EXPECT_EQ(digests.Of(memory), DigestOf(memory));
}

TEST(ContentDigestsTest, WhatHasNoOwnerIsHashedEachTime) {
  ContentDigests digests;
  const Bytes bytes = Filled(1 << 16, 3);
  digests.Remember(bytes, nullptr);
  digests.Of(bytes);
  digests.Of(bytes);
  EXPECT_EQ(digests.hash_count(), 2);
}

}  // namespace
}  // namespace tensord
