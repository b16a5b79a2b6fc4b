// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/call_transfers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

namespace switchfold {

bool describe_exchange(
    const std::vector<CallTransfer>& transfers, std::uint64_t ranks, TraceEvent& event) {
    std::vector<std::uint64_t> sent(ranks, 0);
    std::vector<std::uint64_t> received(ranks, 0);
    std::set<std::uint64_t> peers;
    for (const CallTransfer& transfer : transfers) {
        (transfer.sends ? sent : received)[transfer.peer] += transfer.bytes;
        if (transfer.sends)
            peers.insert(transfer.peer);
    }
    // An all-to-all of two ranks sends to both; one message each way is a pipeline's.
    if (peers.size() != ranks && (peers.size() < 2 || peers.size() + 1 != ranks))
        return false;
    event.collective_name = "all_to_allv";
    event.datatype = "Byte";
    event.in_splits = fmt::format("[{}]", fmt::join(sent, ", "));
    event.out_splits = fmt::format("[{}]", fmt::join(received, ", "));
    event.in_elements = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
    event.out_elements = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
    return true;
}

void describe_message(const CallTransfer& transfer, std::uint64_t peer, TraceEvent& event) {
    event.name = transfer.sends ? "nccl:send" : "nccl:recv";
    event.collective_name = transfer.sends ? "send" : "recv";
    event.datatype = "Byte";
    event.in_elements = event.out_elements = transfer.bytes;
    event.to_rank.reset();
    event.from_rank.reset();
    (transfer.sends ? event.to_rank : event.from_rank) = peer;
}

void describe_batch(TraceEvent& event) {
    event.name = "nccl:coalesced";
    event.input_dims.clear();
    event.input_types.clear();
}

}  // namespace switchfold
