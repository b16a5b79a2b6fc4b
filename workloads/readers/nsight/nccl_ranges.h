// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/nvtx/payload.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::nsight {

/// A call of NCCL, with the time until its kernel was launched.
struct NcclCall {
    std::string function;  ///< "ncclAllReduce"
    std::uint64_t thread = 0;
    std::uint64_t start = 0;  ///< ns
    std::uint64_t end = 0;
    NcclPayload payload;
};

/// A communicator as far as the report tells.
struct NcclCommunicator {
    std::uint64_t size = 0;
    /// By rank in it: the process's device number and the process.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> members;
};

/// Puts NCCL's NVTX ranges together: between ncclGroupStart and ncclGroupEnd nothing is launched
/// before the end, and calls of the same function become one kernel.
class NcclRanges {
public:
    /// \returns false if the range is not NCCL's.
    bool add(NcclCall range, std::uint64_t process);
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }
    /// After the last range: the calls, by thread and in time.
    [[nodiscard]] std::vector<NcclCall> calls();
    /// Null if the report does not hold how it was made.
    [[nodiscard]] const NcclCommunicator* communicator(std::uint64_t number) const;

private:
    std::vector<NcclCall> ranges_;
    std::map<std::uint64_t, NcclCommunicator> communicators_;
};

}  // namespace switchfold::nsight
