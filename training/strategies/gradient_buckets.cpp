// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/gradient_buckets.h"

namespace switchfold {

void GradientBuckets::add(const Layer& layer) {
    pending_ += layer.parameters;
    const Bytes full = parameters_.empty() ? options_.first_bucket : options_.bucket;
    if (size_of(options_.gradient) * pending_ >= full)
        flush();
}

void GradientBuckets::flush() {
    if (pending_ == 0)
        return;
    const Bytes bytes = size_of(options_.gradient) * pending_;
    step_.copy("bucket", Phase::kBackward, static_cast<double>(bytes.count()));
    last_ = step_.communicate(
        kind_ == CollectiveKind::kReduceScatter ? "reduce_scatter" : "all_reduce", kind_, bytes,
        options_.gradient, Phase::kBackward, {step_.last_kernel()});
    parameters_.push_back(pending_);
    pending_ = 0;
}

}  // namespace switchfold
