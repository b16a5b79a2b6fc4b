// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/nccl_launches.h"

#include "workloads/profile/classify.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace switchfold::capture {

namespace {

struct Launch {
    std::uint64_t time = 0;
    std::size_t kernel = 0;
    std::uint64_t end = 0;
};

/// The launches of communication kernels, by thread and time.
std::map<std::uint32_t, std::vector<Launch>> communication_launches(const CaptureFile& file) {
    // Only communication kernels, which are few.
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> launched;
    std::size_t index = 0;
    for (const Kernel& kernel : file.kernels.pass()) {
        if (is_communication(file.name(kernel.name)))
            launched[kernel.correlation].push_back(index);
        ++index;
    }
    std::map<std::uint32_t, std::vector<Launch>> by_thread;
    for (const Call& call : file.calls.pass()) {
        const auto kernels = launched.find(call.correlation);
        if (kernels == launched.end())
            continue;
        for (const std::size_t kernel : kernels->second)
            by_thread[call.thread].push_back({call.start, kernel, call.end});
        launched.erase(kernels);  // matched with the first call of this correlation id
    }
    for (auto& [thread, launches] : by_thread)
        std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
            return std::tie(a.time, a.kernel) < std::tie(b.time, b.kernel);
        });
    return by_thread;
}

/// The calls in [from, until). \pre `calls` is sorted by time.
std::vector<const NcclCall*>
told_between(const std::vector<const NcclCall*>& calls, std::uint64_t from, std::uint64_t until) {
    const auto at = [&calls](std::uint64_t time) {
        return std::lower_bound(
            calls.begin(), calls.end(), time,
            [](const NcclCall* call, std::uint64_t t) { return call->start < t; });
    };
    return {at(from), at(until)};
}

}  // namespace

NcclLaunches match_nccl_calls(const CaptureFile& file) {
    std::map<std::uint32_t, std::vector<const NcclCall*>> calls_of;
    for (const NcclCall& call : file.nccl_calls)
        calls_of[call.thread].push_back(&call);
    for (auto& [thread, calls] : calls_of)
        std::stable_sort(calls.begin(), calls.end(), [](const NcclCall* a, const NcclCall* b) {
            return a->start < b->start;
        });
    NcclLaunches matched;
    std::uint64_t taken = 0;
    for (const auto& [thread, launches] : communication_launches(file)) {
        const std::vector<const NcclCall*>& calls = calls_of[thread];
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const std::uint64_t until = i + 1 < launches.size() ? launches[i + 1].time : UINT64_MAX;
            const std::vector<const NcclCall*> own = told_between(calls, launches[i].time, until);
            taken += own.size();
            if (own.empty())
                ++matched.kernels_without_calls;
            else
                matched.calls.emplace(launches[i].kernel, own);
            matched.launches[launches[i].kernel] = {thread, launches[i].time, launches[i].end};
        }
    }
    matched.calls_without_kernel = file.nccl_calls.size() - taken;
    return matched;
}

CommunicatorRanks communicator_ranks(const std::vector<const CaptureFile*>& captures) {
    std::map<std::uint64_t, std::map<std::uint32_t, std::uint32_t>> global;
    std::map<std::uint64_t, std::uint32_t> sizes;
    for (const CaptureFile* capture : captures)
        for (const Communicator& communicator : capture->communicators) {
            global[communicator.hash][communicator.rank] = capture->session.rank;
            sizes[communicator.hash] = std::max(sizes[communicator.hash], communicator.ranks);
        }
    CommunicatorRanks ranks;
    for (const auto& [hash, members] : global) {
        if (members.size() != sizes[hash])
            continue;
        std::vector<std::uint32_t>& whole = ranks[hash];
        for (const auto& [local, rank] : members)
            whole.push_back(rank);
    }
    return ranks;
}

}  // namespace switchfold::capture
