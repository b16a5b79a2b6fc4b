// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "models/collectives/choice/algorithm.h"
#include "models/collectives/parameters.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A tuner's table as NCCL's example plugin reads it: collective, least and most bytes, algorithm,
/// protocol, channels, nodes, ranks, pipelined operations, registered buffers; -1: any.
class TunerTable {
public:
    struct Row {
        CollectiveKind kind = CollectiveKind::kAllReduce;
        std::uint64_t least = 0;
        std::uint64_t most = UINT64_MAX;
        Algorithm algorithm = Algorithm::kRing;
        Protocol protocol = Protocol::kSimple;
        std::uint32_t channels = 0;             ///< 0: NCCL's own
        std::optional<std::uint32_t> machines;  ///< none: any
        std::optional<std::uint32_t> ranks;
        std::optional<bool> registered;
        std::uint32_t line = 0;
    };
    /// Throws ConfigError.
    explicit TunerTable(const std::filesystem::path& file);
    TunerTable(const std::string& text, const std::string& file);
    /// The first row that fits; null: NCCL chooses.
    [[nodiscard]] const Row* find(
        CollectiveKind kind, std::uint64_t bytes, std::uint32_t machines, std::uint32_t ranks,
        bool registered) const;
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    /// Which rows are passed over because nothing simulates their algorithm; empty: none.
    [[nodiscard]] std::string passed_over() const;

private:
    struct Passed {
        std::uint32_t line;
        std::string algorithm;
    };
    void read(const std::string& text, const std::string& file);

    std::string file_;
    std::vector<Row> rows_;
    std::vector<Passed> passed_;
};

}  // namespace switchfold
