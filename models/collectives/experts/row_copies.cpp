// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/row_copies.h"

#include <algorithm>

namespace switchfold {

RowCopies::RowCopies(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    const RingShape& shape) :
    RingBuffers(environment, spec, listener, shape),
    rows_(std::size_t{n_} * n_),
    taken_(flows_.size()) {
    for (const TokenFlow& f : flows_)
        if (f.range.count > 0)
            add_part(f.to);
    for (std::uint32_t to = 0; to < n_; ++to) {
        std::uint64_t row = 0;
        for (std::uint32_t from = 0; from < n_; ++from) {
            rows_[std::size_t{to} * n_ + from] = row;
            row += (combine_ ? routing_.tokens_to(to, from) : routing_.tokens_to(from, to)).size();
        }
    }
}

void RowCopies::on_tail(TokenFlow& f) {
    if (!f.receiving)
        receive(f);
}

void RowCopies::receive(TokenFlow& f) {
    f.receiving = true;
    std::uint32_t& taken = taken_[index_of(f)];
    taken = f.tail - f.head;
    const std::uint64_t served = port(f.to).access(taken * shape_.row, taken * row_.all()).count();
    post_received(
        index_of(f), std::max(now() + params_.poll.count() + receive_time(taken), served));
}

void RowCopies::on_received(std::uint32_t index) {
    TokenFlow& f = flows_[index];
    const std::uint32_t taken = taken_[index];
    std::uint64_t row = rows_[std::size_t{f.to} * n_ + f.from] + f.range.first + f.head;
    for (std::uint32_t left = taken; left > 0;) {
        const TokenFlow::Batch batch = f.batches.front();
        f.batches.pop_front();
        if (functional_)
            fabric_.values().take(batch.values, results_[f.to], row * kTokenNumbers);
        row += batch.tokens;
        left -= batch.tokens;
    }
    f.receiving = false;
    free_places(f, taken);
    if (f.head == f.range.count)
        part_done(f.to);
    else if (f.tail > f.head)
        receive(f);
}

}  // namespace switchfold
