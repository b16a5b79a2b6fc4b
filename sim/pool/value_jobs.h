// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/byte_codec.h"
#include "sim/pool/pool.h"

#include <cstddef>
#include <span>
#include <vector>

namespace switchfold {

/// Runs jobs whose results are value_bytes(). \returns their values in job order. Throws the error
/// of a failed one.
template <class T>
std::vector<T> values_of(std::span<const Job> jobs, const RunJobs& run) {
    std::vector<T> values(jobs.size());
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        values[job] = value_of_bytes<T>(result.bytes);
    });
    return values;
}

}  // namespace switchfold
