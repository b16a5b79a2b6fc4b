// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/fully_sharded.h"

namespace switchfold {

namespace {

using Index = StepBuilder::Index;

struct Unit {
    std::size_t first;  ///< index of the first layer
    std::size_t end;
    std::uint64_t parameters;
};

std::vector<Unit> units_of(const std::vector<Layer>& layers, const FullyShardedOptions& options) {
    std::vector<Unit> units;
    Unit unit{0, 0, 0};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        unit.parameters += layers[i].parameters;
        unit.end = i + 1;
        if (unit.parameters * options.activation_bytes >= options.unit.count()) {
            units.push_back(unit);
            unit = {i + 1, i + 1, 0};
        }
    }
    if (unit.end > unit.first) {
        // A remainder joins the previous unit: its layers may have no weights.
        if (units.empty()) {
            units.push_back(unit);
        } else {
            units.back().end = unit.end;
            units.back().parameters += unit.parameters;
        }
    }
    return units;
}

class FullySharded {
public:
    FullySharded(const std::vector<Layer>& layers, const FullyShardedOptions& options) :
        options_(options), units_(units_of(layers, options)), step_(layers, options) {}

    ExecutionGraph build() {
        forward();
        backward();
        double parameters = 0;
        for (const Unit& unit : units_)
            parameters += static_cast<double>(unit.parameters);
        step_.optimizer(parameters / options_.ranks);
        return step_.take();
    }

private:
    void forward() {
        std::vector<Index> ended;
        Index ready = gather(0, Phase::kForward, {});
        for (std::size_t u = 0; u < units_.size(); ++u) {
            step_.wait_for(ready);
            if (u + 1 < units_.size())
                ready = gather(u + 1, Phase::kForward, after(ended));
            for (std::size_t i = units_[u].first; i < units_[u].end; ++i)
                step_.forward(i);
            ended.push_back(step_.last_kernel());
        }
    }

    void backward() {
        std::vector<Index> ended{step_.last_kernel()};
        Index parted = 0;
        for (std::size_t u = units_.size(); u-- > 0;) {
            // The all-gather of the next unit (backwards) is issued before this one computes.
            Index ready = 0;
            if (u > 0)
                ready = gather(u - 1, Phase::kBackward, after(ended));
            for (std::size_t i = units_[u].end; i-- > units_[u].first;)
                step_.backward(i);
            ended.push_back(step_.last_kernel());
            parted = step_.communicate(
                "reduce_scatter", CollectiveKind::kReduceScatter,
                size_of(options_.gradient) * units_[u].parameters, options_.gradient,
                Phase::kBackward, {step_.last_kernel()});
            if (u > 0)
                step_.wait_for(ready);
        }
        step_.wait_for(parted);
    }

    /// A unit's buffer is free once the unit before the one that computes now has ended.
    static std::vector<Index> after(const std::vector<Index>& ended) {
        return ended.empty() ? std::vector<Index>{} : std::vector<Index>{ended.back()};
    }

    Index gather(std::size_t u, Phase phase, std::vector<Index> dependencies) {
        return step_.communicate(
            "all_gather", CollectiveKind::kAllGather,
            Bytes(units_[u].parameters * options_.activation_bytes),
            options_.activation_bytes == 4 ? Datatype::kFloat32 : Datatype::kBfloat16, phase,
            std::move(dependencies));
    }

    const FullyShardedOptions& options_;
    std::vector<Unit> units_;
    StepBuilder step_;
};

}  // namespace

ExecutionGraph
fully_sharded_step(const std::vector<Layer>& layers, const FullyShardedOptions& options) {
    return FullySharded(layers, options).build();
}

}  // namespace switchfold
