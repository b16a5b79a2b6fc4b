// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/change.h"
#include "training/elastic/member_gpus.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold::elastic {

/// A failure of a GPU, whether it is training or not.
struct Failure {
    Time at;
    std::uint32_t gpu = 0;
    bool operator==(const Failure&) const = default;
};

/// Failures of each GPU at a constant rate, in order of time. Each GPU has its own random stream,
/// so its failures do not depend on the others.
[[nodiscard]] std::vector<Failure>
draw_failures(std::uint32_t gpus, double per_gpu_day, Time length, std::uint64_t seed);

/// Reads a CSV with the columns `seconds` and `gpu`. Throws ConfigError with all problems, IoError.
[[nodiscard]] std::vector<Failure> read_failures(const std::filesystem::path& path);

/// A run's reaction to failures.
struct FailurePolicy {
    Method method = Method::kFailure;  ///< failure or restart
    Method rejoin = Method::kJoin;  ///< for a spare or a repaired GPU: join, restart or reconnect
    Time repair;
    std::uint32_t spares = 0;  ///< members after the first ones
};

/// Adds the changes caused by failures to a run's changes, which must have times; the result is in
/// order of time. The member of a GPU that fails is removed. A spare replaces it, or else the same
/// GPU after its repair. A restart takes the spare at once. A GPU repaired while a spare replaces
/// it becomes a spare. Failures of GPUs that are neither members nor spares are ignored, and so are
/// failures that would leave nobody.
[[nodiscard]] std::vector<Change> with_failures(
    const Members& first, const std::vector<Change>& changes, const std::vector<Failure>& failures,
    const FailurePolicy& policy, const MemberGpus& gpus, Time length);

}  // namespace switchfold::elastic
