// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/slow_ranks.h"

#include "sim/workload/workload_context.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

std::vector<SlowRank> slow_ranks(
    const WorkloadContext& context, std::size_t all,
    const std::function<bool(std::uint32_t)>& works) {
    std::vector<SlowRank> slow;
    const std::vector<SlowRankParams>& ranks = context.experiment().ranks;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const SlowRankParams& one = ranks[i];
        if (works(one.rank))
            slow.push_back({one.rank, one.compute, one.delay});
        // GPUs that join a run later may be slow too.
        else if (!context.is_placed() && !context.experiment().run)
            context.fail(
                fmt::format("/ranks/{}/rank", i),
                fmt::format(
                    "is {}, which takes no part in the workload of {} ranks; expected one that "
                    "does",
                    one.rank, all));
    }
    return slow;
}

std::vector<SlowRank> slow_ranks(const WorkloadContext& context, std::size_t all) {
    return slow_ranks(context, all, [&](std::uint32_t rank) { return rank < all; });
}

std::map<std::uint32_t, std::uint32_t> kinds_of(const std::vector<SlowRank>& slow) {
    std::map<std::uint32_t, std::uint32_t> kinds;
    std::map<std::pair<double, Time>, std::uint32_t> known;
    for (const SlowRank& one : slow)
        kinds[one.rank] =
            known
                .try_emplace({one.compute, one.delay}, static_cast<std::uint32_t>(known.size() + 1))
                .first->second;
    return kinds;
}

}  // namespace switchfold
