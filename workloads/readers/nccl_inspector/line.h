// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::nccl_inspector {

/// Whose operations the lines list: a rank of a communicator in a process.
struct Place {
    std::string communicator;  ///< "0x7f8c496ae9f661"
    std::uint32_t rank = 0;    ///< in the communicator
    std::uint32_t ranks = 1;
    std::string process;  ///< host and process id
    bool operator==(const Place&) const = default;
};

/// A line of NCCL's Inspector.
struct Line {
    enum class What : std::uint8_t { kCollective, kTransfer, kStatistics, kProxy };
    What what = What::kCollective;
    std::optional<Place> place;  ///< missing: that of the statistics before it (since version 4.3)
    std::string name;            ///< "AllReduce", "Send"
    std::uint64_t number = 0;    ///< of the communicator's collectives of this name
    std::uint64_t bytes = 0;     ///< that the call passed for a rank
    std::uint32_t peer = 0;      ///< of a transfer, in the communicator
    double us = 0;               ///< that it took; 0 if it is not known
    bool timed_on_host = false;
    std::optional<std::uint64_t> start_us;  ///< since 1970; of the verbose form
    std::string algorithm;                  ///< "ring"; empty if it is not told
    std::string protocol;
    std::uint64_t lost = 0;  ///< in statistics: records overwritten since those before
};

/// Throws ConfigError ("line 3: /coll_perf/coll_sn").
[[nodiscard]] Line
parse_line(const std::string& text, const std::string& file, std::uint64_t number);

}  // namespace switchfold::nccl_inspector
