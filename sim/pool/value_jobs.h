// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/pool/byte_codec.h"
#include "sim/pool/pool.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// The result of a job whose result is one value.
template <class T>
std::string value_bytes(const T& value) {
    ByteWriter writer;
    writer.put(value);
    return writer.take();
}

/// Runs such jobs. \returns their values in job order. Throws the error of a failed one.
template <class T>
std::vector<T> values_of(std::span<const Job> jobs, const RunJobs& run) {
    std::vector<T> values(jobs.size());
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        ByteReader reader(result.bytes);
        reader.get(values[job]);
        reader.end();
    });
    return values;
}

}  // namespace switchfold
