// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/processor.h"

#include "models/coprocessor/gradient_sums.h"
#include "models/coprocessor/memory_rate.h"
#include "models/coprocessor/region_clock.h"
#include "models/coprocessor/work_time.h"

#include <utility>

namespace switchfold {

namespace {

/// Runs a region: loops follow each other on a core without synchronisation; libraries and sums
/// have their own barriers.
class RegionRun {
public:
    RegionRun(const ProcessorParams& processor, const ThreadLayout& layout) :
        processor_(processor),
        layout_(layout),
        rates_{
            [&processor](double streams) { return memory_rate(processor, streams); },
            ring_rate(processor)} {}

    RegionTime run(const offload::Region& region) {
        const std::uint32_t threads = layout_.nested > 1 ? layout_.teams() : layout_.threads();
        time_.begin_and_end =
            fork_seconds(processor_, threads) + barrier_seconds(processor_, threads);
        for (const offload::Work& part : region.parts)
            std::visit([this](const auto& work) { add(work); }, part);
        finish_loops();
        return time_;
    }

private:
    template <class Loop>
    void add(const Loop& loop) {
        // Cores with most rows in one loop have most in the next: they are the same rows.
        std::vector<CoreGroup> groups = groups_of(loop, processor_, layout_);
        if (!loops_.empty() && !same_cores(groups))
            finish_loops();
        if (loops_.empty()) {
            loops_ = std::move(groups);
            return;
        }
        for (std::size_t i = 0; i < groups.size(); ++i)
            loops_[i].stages.insert(
                loops_[i].stages.end(), groups[i].stages.begin(), groups[i].stages.end());
    }
    void add(const offload::LibraryProduct& product) {
        finish_loops();
        time_.work += region_seconds(groups_of(packing_of(product), processor_, layout_), rates_) +
                      barrier_seconds(processor_, layout_.threads()) +
                      region_seconds(groups_of(product, processor_, layout_), rates_);
    }
    void add(const offload::AtomicSum& sum) { add_sum(sum); }
    void add(const offload::TreeSum& sum) { add_sum(sum); }

    template <class Sum>
    void add_sum(const Sum& sum) {
        finish_loops();
        time_.sums += sum_seconds(sum, processor_, layout_);
    }

    [[nodiscard]] bool same_cores(const std::vector<CoreGroup>& groups) const {
        if (groups.size() != loops_.size())
            return false;
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (groups[i].cores != loops_[i].cores)
                return false;
        return true;
    }
    void finish_loops() {
        time_.work += region_seconds(std::move(loops_), rates_);
        loops_.clear();
    }

    const ProcessorParams& processor_;
    const ThreadLayout& layout_;
    SharedRates rates_;
    std::vector<CoreGroup> loops_;
    RegionTime time_;
};

}  // namespace

Processor::Processor(ProcessorParams params, ThreadLayout layout) :
    params_(std::move(params)), layout_(layout) {}

RegionTime Processor::run(const offload::Region& region) const {
    return RegionRun(params_, layout_).run(region);
}

double peak_flops(const ProcessorParams& processor, const ThreadLayout& layout) {
    constexpr double kOfMultiplyAdd = 2;
    return layout.cores * issue_share(processor, layout.threads_of_core()) * kOfMultiplyAdd *
           processor.simd_lanes * static_cast<double>(processor.clock.count());
}

}  // namespace switchfold
