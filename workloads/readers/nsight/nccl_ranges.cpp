// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/nccl_ranges.h"

#include <algorithm>
#include <tuple>

namespace switchfold::nsight {

namespace {

constexpr std::string_view kGroupStart = "ncclGroupStart";
constexpr std::string_view kGroupEnd = "ncclGroupEnd";

bool transfers(std::string_view function) {
    return function == "ncclSend" || function == "ncclRecv";
}

/// The call's own transfer, if it is one that states its peer and size.
std::vector<CallTransfer> transfers_of(const NcclCall& call) {
    if (!transfers(call.function) || !call.payload.peer || !call.payload.bytes)
        return {};
    return {{call.function == "ncclSend", *call.payload.peer, *call.payload.bytes}};
}

/// Combines a group's calls into one per kernel: calls of one function and communicator share a
/// kernel. So do sends and receives; their bytes are those sent.
std::vector<NcclCall> kernels_of(const std::vector<NcclCall>& group) {
    std::vector<NcclCall> kernels;
    for (const NcclCall& call : group) {
        const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const NcclCall& k) {
            return k.payload.communicator == call.payload.communicator &&
                   (k.function == call.function ||
                    (transfers(k.function) && transfers(call.function)));
        });
        if (same == kernels.end()) {
            kernels.push_back(call);
            kernels.back().transfers = transfers_of(call);
            continue;
        }
        // Without one of them the others tell only a part.
        const std::vector<CallTransfer> more = transfers_of(call);
        if (more.empty() || same->transfers.empty())
            same->transfers.clear();
        else
            same->transfers.push_back(more.front());
        if (same->function == call.function && call.payload.bytes) {
            same->payload.bytes = same->payload.bytes.value_or(0) + *call.payload.bytes;
        } else if (call.function == "ncclSend") {
            same->function = call.function;
            same->payload.bytes = call.payload.bytes;
        }
    }
    return kernels;
}

}  // namespace

bool NcclRanges::add(NcclCall range, std::uint64_t process) {
    if (!range.function.starts_with("nccl"))
        return false;
    if (range.function.ends_with("()"))
        range.function.resize(range.function.size() - 2);
    const NcclPayload& payload = range.payload;
    if (payload.communicator && payload.ranks) {
        NcclCommunicator& communicator = communicators_[*payload.communicator];
        communicator.size = *payload.ranks;
        if (payload.rank && payload.device)
            communicator.members[*payload.rank] = {*payload.device, process};
    }
    ranges_.push_back(std::move(range));
    return true;
}

std::vector<NcclCall> NcclRanges::calls() {
    std::stable_sort(ranges_.begin(), ranges_.end(), [](const NcclCall& a, const NcclCall& b) {
        return std::tie(a.thread, a.start) < std::tie(b.thread, b.start);
    });
    std::vector<NcclCall> calls;
    std::vector<NcclCall> group;
    std::size_t depth = 0;
    const auto end_group = [&](std::optional<std::uint64_t> end) {
        for (NcclCall& call : kernels_of(group)) {
            call.end = std::max(call.end, end.value_or(call.end));
            calls.push_back(std::move(call));
        }
        group.clear();
    };
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        NcclCall& range = ranges_[i];
        if (i > 0 && ranges_[i - 1].thread != range.thread) {
            end_group({});  // for a thread whose trace is truncated
            depth = 0;
        }
        if (range.function == kGroupStart) {
            ++depth;
        } else if (range.function == kGroupEnd) {
            depth -= depth > 0 ? 1 : 0;
            if (depth == 0)
                end_group(range.end);
        } else if (depth > 0) {
            group.push_back(std::move(range));
        } else {
            calls.push_back(std::move(range));
            calls.back().transfers = transfers_of(calls.back());
        }
    }
    end_group({});
    ranges_.clear();
    return calls;
}

const NcclCommunicator* NcclRanges::communicator(std::uint64_t number) const {
    const auto found = communicators_.find(number);
    return found == communicators_.end() ? nullptr : &found->second;
}

}  // namespace switchfold::nsight
