// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/state_moves.h"

namespace switchfold::elastic {

void StateMoves::add_each(
    ExecutionGraph& graph, const Members& from, const Members& to, Transfer transfer) const {
    for (std::uint32_t place = 0; place < gpus_.each(); ++place)
        if (const Bytes bytes = devices_[gpus_.device_of(place)].each; bytes.count() > 0)
            add_transfer(graph, gpus_.at(from, place), gpus_.at(to, place), transfer, bytes);
}

void StateMoves::add_divided(
    ExecutionGraph& graph, const Members& before, const Members& after) const {
    const std::vector<Members> had = gpus_.dividing(before);
    const std::vector<Members> have = gpus_.dividing(after);
    std::vector<StatePiece> pieces;
    for (std::size_t part = 0; part < had.size(); ++part) {
        const Bytes bytes = devices_[part * devices_.size() / had.size()].divided;
        const std::vector<StatePiece> own = divided_anew(had[part], have[part], bytes);
        pieces.insert(pieces.end(), own.begin(), own.end());
    }
    add_pieces(graph, pieces);
}

void StateMoves::add_weights(ExecutionGraph& graph, const Members& members) const {
    const Members first{members.front()};
    const Members others(members.begin() + 1, members.end());
    for (std::uint32_t place = 0; place < gpus_.each(); ++place)
        if (const Bytes bytes = devices_[gpus_.device_of(place)].weights; bytes.count() > 0)
            add_transfer(
                graph, gpus_.at(first, place), gpus_.at(others, place), Transfer::kRing, bytes);
}

}  // namespace switchfold::elastic
