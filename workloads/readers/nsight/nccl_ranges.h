// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/call_transfers.h"
#include "workloads/readers/nvtx/payload.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::nsight {

/// A call of NCCL; its time extends to its kernel's launch.
struct NcclCall {
    std::string function;  ///< "ncclAllReduce"
    std::uint64_t thread = 0;
    std::uint64_t start = 0;  ///< ns
    std::uint64_t end = 0;
    NcclPayload payload;
    /// Sends and receives of the call or of its group; empty if one of them states no peer or size.
    std::vector<CallTransfer> transfers = {};
};

/// A communicator, as far as the report describes it.
struct NcclCommunicator {
    std::uint64_t size = 0;
    /// By rank in the communicator: device number and process.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> members;
};

/// Combines NCCL's NVTX ranges into calls: between ncclGroupStart and ncclGroupEnd nothing is
/// launched before the end, and calls of the same function share one kernel.
class NcclRanges {
public:
    /// \returns false if the range does not belong to NCCL.
    bool add(NcclCall range, std::uint64_t process);
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }
    /// After the last range: the calls, by thread and time.
    [[nodiscard]] std::vector<NcclCall> calls();
    /// Null if the report does not contain its creation.
    [[nodiscard]] const NcclCommunicator* communicator(std::uint64_t number) const;

private:
    std::vector<NcclCall> ranges_;
    std::map<std::uint64_t, NcclCommunicator> communicators_;
};

}  // namespace switchfold::nsight
