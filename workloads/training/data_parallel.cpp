// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/data_parallel.h"

#include <numeric>

namespace switchfold {

namespace {

/// Gradients that are ready, gathered in buckets in the order of the backward pass.
class Buckets {
public:
    Buckets(StepBuilder& step, const DataParallelOptions& options) :
        step_(step), options_(options) {}

    void add(const Layer& layer) {
        pending_ += size_of(options_.gradient) * layer.parameters;
        if (pending_ >= (first_ ? options_.first_bucket : options_.bucket))
            flush();
    }
    void flush() {
        if (pending_.count() == 0)
            return;
        step_.copy("bucket", Phase::kBackward, static_cast<double>(pending_.count()));
        last_ = step_.communicate(
            "all_reduce",
            CollectiveKind::kAllReduce,
            pending_,
            options_.gradient,
            Phase::kBackward,
            {step_.last_kernel()});
        pending_ = Bytes(0);
        first_ = false;
    }
    void wait_for_all() {
        if (!first_)
            step_.wait_for(last_);
    }

private:
    StepBuilder& step_;
    const DataParallelOptions& options_;
    Bytes pending_;
    bool first_ = true;
    StepBuilder::Index last_ = 0;
};

}  // namespace

ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options) {
    StepBuilder step(layers, options);
    Buckets buckets(step, options);
    for (std::size_t i = 0; i < layers.size(); ++i)
        step.forward(i);
    for (std::size_t i = layers.size(); i-- > 0;) {
        step.backward(i);
        buckets.add(layers[i]);
    }
    buckets.flush();
    buckets.wait_for_all();
    step.optimizer(
        std::accumulate(layers.begin(), layers.end(), 0.0, [](double sum, const Layer& layer) {
            return sum + static_cast<double>(layer.parameters);
        }));
    return step.take();
}

}  // namespace switchfold
