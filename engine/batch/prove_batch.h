#ifndef TENSORD_ENGINE_BATCH_PROVE_BATCH_H_
#define TENSORD_ENGINE_BATCH_PROVE_BATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/shape.h"
#include "engine/batch/node_rows.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"

namespace tensord {

// The graph with the leading extents of all inputs open, so that it can be
// compiled for any batch: itself where the client left them open; a copy where
// each was declared as 1. kFailedPrecondition names the input that has no such
// dimension, or fixes it otherwise.
// Threading: pure. Ownership: the copy shares the constants' bytes.
absl::StatusOr<std::shared_ptr<const Graph>> OpenBatch(
    const std::shared_ptr<const Graph>& graph);

// Proves that a run of `graph` over several requests' rows, one behind the
// other along dimension 0 of every input, gives each request the rows that its
// own run gives: by a rule for each node (FindRowRule), asked with the shapes
// and known values of a batch of `rows` and of another one.
//
// It holds for requests and runs of all sizes for which it was proven, with the
// same outcome: a value that is one thing at one size and another at the next
// would end the proof at the node that reads it, or differ in the outcome.
//
// `request` are one request's input shapes, whose leading extents do not
// matter. Returns the kind of each output: stacked or fixed.
// Threading: one thread with the evaluator, which may be null (then less is
//   known before a run, and less is proven).
// Errors: kFailedPrecondition with the node's name, its operator and what
//   stands against it; inference's own for a graph that does not fit the batch.
absl::StatusOr<std::vector<RowKind>> ProveBatch(const Graph& graph,
                                                absl::Span<const Shape> request,
                                                int64_t rows,
                                                const GraphLimits& limits,
                                                HostEvaluator* evaluator);

// The shapes with another leading extent. Each has a rank of at least 1.
absl::StatusOr<std::vector<Shape>> WithLeadingExtent(
    absl::Span<const Shape> shapes, int64_t extent);

}  // namespace tensord

#endif  // TENSORD_ENGINE_BATCH_PROVE_BATCH_H_
