// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/nccl_launches.h"

#include "workloads/kineto/classify.h"

#include <algorithm>
#include <unordered_map>

namespace switchfold::capture {

namespace {

struct Launch {
    std::uint64_t time = 0;
    std::size_t kernel = 0;
};

/// The launches of communication kernels, by thread and in time.
std::map<std::uint32_t, std::vector<Launch>> communication_launches(const CaptureFile& file) {
    std::unordered_map<std::uint32_t, const Call*> launching;
    for (const Call& call : file.calls)
        launching.emplace(call.correlation, &call);
    std::map<std::uint32_t, std::vector<Launch>> by_thread;
    for (std::size_t i = 0; i < file.kernels.size(); ++i) {
        const Kernel& kernel = file.kernels[i];
        const auto call = launching.find(kernel.correlation);
        if (call != launching.end() && is_communication(file.name(kernel.name)))
            by_thread[call->second->thread].push_back({call->second->start, i});
    }
    for (auto& [thread, launches] : by_thread)
        std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
            return a.time < b.time;
        });
    return by_thread;
}

}  // namespace

NcclLaunches match_nccl_calls(const CaptureFile& file) {
    std::map<std::uint32_t, std::vector<const NcclCall*>> calls_of;
    for (const NcclCall& call : file.nccl_calls)
        calls_of[call.thread].push_back(&call);
    NcclLaunches matched;
    std::uint64_t taken = 0;
    for (const auto& [thread, launches] : communication_launches(file)) {
        const std::vector<const NcclCall*>& calls = calls_of[thread];
        std::size_t next = 0;
        for (const Launch& launch : launches) {
            std::vector<const NcclCall*> own;
            while (next < calls.size() && calls[next]->start <= launch.time)
                own.push_back(calls[next++]);
            taken += own.size();
            if (own.empty())
                ++matched.kernels_without_calls;
            else
                matched.calls.emplace(launch.kernel, std::move(own));
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
