// SPDX-License-Identifier: Apache-2.0
#include "sim/config/unequal_params.h"

#include <fmt/format.h>

#include <map>
#include <string>

namespace switchfold {

namespace {

/// Records which entry named a rank first.
class NamedRanks {
public:
    NamedRanks(std::uint32_t gpus, ParamChecker& checker) : gpus_(gpus), checker_(checker) {}

    void name(std::uint32_t rank, const std::string& pointer, const std::string& list) {
        if (rank >= gpus_)
            checker_.error(
                pointer, fmt::format(
                             "names rank {} of a machine with {} GPUs; expected ranks below that",
                             rank, gpus_));
        const auto [at, fresh] = first_.try_emplace(rank, pointer);
        if (!fresh)
            checker_.error(
                pointer, fmt::format(
                             "names rank {}, which {} names too; expected each rank once in {}",
                             rank, at->second, list));
    }

private:
    std::uint32_t gpus_;
    ParamChecker& checker_;
    std::map<std::uint32_t, std::string> first_;
};

}  // namespace

void check_kinds(
    const std::vector<GpuKindParams>& kinds, std::uint32_t gpus, ParamChecker& checker) {
    NamedRanks named(gpus, checker);
    for (std::size_t i = 0; i < kinds.size(); ++i)
        for (const std::uint32_t rank : kinds[i].ranks.ranks)
            named.name(rank, fmt::format("/gpus/{}/ranks", i), "gpus");
}

void check_slow_ranks(
    const std::vector<SlowRankParams>& slow, std::uint32_t gpus, ParamChecker& checker) {
    NamedRanks named(gpus, checker);
    for (std::size_t i = 0; i < slow.size(); ++i)
        named.name(slow[i].rank, fmt::format("/ranks/{}/rank", i), "ranks");
}

}  // namespace switchfold
