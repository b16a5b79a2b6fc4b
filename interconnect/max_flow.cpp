// SPDX-License-Identifier: Apache-2.0
#include "interconnect/max_flow.h"

#include <algorithm>

namespace switchfold {

void MaxFlow::add_edge(std::uint32_t a, std::uint32_t b, std::uint64_t capacity) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        arcs_.push_back({to, first_[from], capacity, capacity});
        first_[from] = static_cast<std::uint32_t>(arcs_.size() - 1);
    }
}

bool MaxFlow::label(const std::vector<std::uint32_t>& sources) {
    level_.assign(first_.size(), kNone);
    at_ = first_;
    std::vector<std::uint32_t> queue = sources;
    for (const std::uint32_t source : sources)
        level_[source] = 0;
    bool reached = false;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const std::uint32_t node = queue[next];
        for (std::uint32_t arc = first_[node]; arc != kNone; arc = arcs_[arc].next) {
            const std::uint32_t to = arcs_[arc].to;
            if (arcs_[arc].left == 0 || level_[to] != kNone)
                continue;
            level_[to] = level_[node] + 1;
            if (sink_[to])
                reached = true;  // flow does not continue from a sink
            else
                queue.push_back(to);
        }
    }
    return reached;
}

std::uint64_t MaxFlow::push(std::uint32_t node, std::uint64_t most) {
    if (sink_[node])
        return most;
    std::uint64_t pushed = 0;
    for (std::uint32_t& arc = at_[node]; arc != kNone; arc = arcs_[arc].next) {
        Arc& out = arcs_[arc];
        if (out.left == 0 || level_[out.to] != level_[node] + 1)
            continue;
        const std::uint64_t through = push(out.to, std::min(most - pushed, out.left));
        out.left -= through;
        arcs_[arc ^ 1U].left += through;
        pushed += through;
        if (pushed == most)
            break;
    }
    return pushed;
}

std::uint64_t
MaxFlow::run(const std::vector<std::uint32_t>& sources, const std::vector<std::uint32_t>& sinks) {
    for (Arc& arc : arcs_)
        arc.left = arc.capacity;
    sink_.assign(first_.size(), false);
    for (const std::uint32_t sink : sinks)
        sink_[sink] = true;
    std::uint64_t flow = 0;
    while (label(sources))
        for (const std::uint32_t source : sources)
            flow += push(source, UINT64_MAX);
    return flow;
}

}  // namespace switchfold
