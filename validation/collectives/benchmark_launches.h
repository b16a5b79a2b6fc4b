// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/collectives/collective_tables.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::validation {

/// How long the host of a benchmark's loop takes per iteration: a lower bound of what it measures.
///
/// Benchmarks of all-reduces inside one machine use one thread that drives all GPUs (nccl-tests'
/// -g, the default in containers and guides); across machines, and from Python, there is one
/// process per GPU. Tables that name the collective come from benchmarks with one thread or process
/// per GPU (nccl-tests -t). So do tables that are quicker than one thread could launch.
class BenchmarkLaunches {
public:
    /// `rows` of any number of tables, which tell how quick each one is.
    explicit BenchmarkLaunches(const std::vector<MeasuredRow>& rows);
    [[nodiscard]] Time of(const MeasuredRow& row, const MatchedMachine& machine) const;

private:
    [[nodiscard]] std::uint32_t driven(const MeasuredRow& row, const MatchedMachine& machine) const;

    /// us, by table and number of GPUs.
    std::map<std::pair<std::string, std::uint32_t>, double> quickest_;
};

}  // namespace switchfold::validation
