// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/peer_copies/program.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

using Kind = CopyStep::Kind;

std::uint32_t add(CopyProgram& program, CopyStep step) {
    program.steps.push_back(std::move(step));
    return static_cast<std::uint32_t>(program.steps.size() - 1);
}

/// Members ordered such that each follows its children.
std::vector<std::uint32_t> leaves_first(const ReduceTree& parents) {
    const auto depth = [&](std::uint32_t member) {
        std::uint32_t steps = 0;
        for (; parents[member] != member; member = parents[member])
            ++steps;
        return steps;
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_depth;
    for (std::uint32_t member = 0; member < parents.size(); ++member)
        by_depth.emplace_back(~depth(member), member);
    std::sort(by_depth.begin(), by_depth.end());
    std::vector<std::uint32_t> order;
    for (const auto& [depth_from_below, member] : by_depth)
        order.push_back(member);
    return order;
}

void exchange_by_tree(CopyProgram& program, std::uint32_t array, const ReduceTree& parents) {
    const std::vector<std::uint32_t> order = leaves_first(parents);
    std::vector<std::vector<std::uint32_t>> come(parents.size());
    for (const std::uint32_t member : order) {
        std::vector<std::uint32_t> ready = come[member];
        if (!ready.empty()) {
            const auto terms = static_cast<std::uint32_t>(ready.size() + 1);
            ready = {add(program, {Kind::kSum, array, member, member, terms, false, ready})};
        }
        come[member] = ready;
        if (parents[member] != member)
            come[parents[member]].push_back(
                add(program, {Kind::kPeerCopy, array, member, parents[member], 0, false, ready}));
    }
    // Here come[] of the root is its sum; for the others it becomes the copy that they receive.
    for (auto member = order.rbegin(); member != order.rend(); ++member)
        if (parents[*member] != *member)
            come[*member] = {
                add(program, {Kind::kPeerCopy, array, parents[*member], *member, 0, true,
                              come[parents[*member]]})};
}

}  // namespace

std::vector<std::uint64_t> cut_into_arrays(std::uint64_t bytes, std::uint64_t most) {
    std::vector<std::uint64_t> arrays(bytes / most, most);
    if (bytes % most != 0)
        arrays.push_back(bytes % most);
    return arrays;
}

CopyProgram
exchange_by_owners(std::uint32_t members, std::vector<std::uint64_t> arrays, std::uint32_t owners) {
    std::vector<ReduceTree> stars;
    for (std::uint32_t owner = 0; owner < owners; ++owner)
        stars.emplace_back(members, owner);
    return exchange_by_trees(std::move(arrays), stars);
}

CopyProgram
exchange_by_trees(std::vector<std::uint64_t> arrays, const std::vector<ReduceTree>& trees) {
    CopyProgram program;
    program.arrays = std::move(arrays);
    for (std::uint32_t array = 0; array < program.arrays.size(); ++array)
        exchange_by_tree(program, array, trees[array % trees.size()]);
    return program;
}

CopyProgram exchange_by_host(std::uint32_t members, std::vector<std::uint64_t> arrays) {
    CopyProgram program;
    program.arrays = std::move(arrays);
    for (std::uint32_t array = 0; array < program.arrays.size(); ++array) {
        std::vector<std::uint32_t> come;
        for (std::uint32_t member = 0; member < members; ++member)
            come.push_back(add(program, {Kind::kToHost, array, member, member, 0, false, {}}));
        const std::uint32_t sum = add(program, {Kind::kHostSum, array, 0, 0, members, false, come});
        for (std::uint32_t member = 0; member < members; ++member)
            add(program, {Kind::kToDevice, array, member, member, 0, true, {sum}});
    }
    return program;
}

}  // namespace switchfold
