// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_messages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace switchfold {

namespace {

class MessageMaker {
public:
    explicit MessageMaker(const PlacedStep& cut) :
        cut_(cut),
        graph_(cut.graph()),
        tasks_(cut.tasks()),
        parts_(cut.found().parts),
        readers_(readers_of(graph_)),
        place_(tasks_.all().size()),
        before_(tasks_.all().size()) {
        // Each part's last task and the one before it.
        std::vector<std::optional<std::uint32_t>> last(graph_.parts);
        std::vector<std::optional<std::uint32_t>> last_but_one(graph_.parts);
        const bool ahead = cut.plan().messages == Messages::kAhead;
        for (std::uint32_t at = 0; at < cut.schedule().order.size(); ++at) {
            const std::uint32_t task = cut.schedule().order[at];
            const std::uint32_t part = parts_[tasks_.all()[task].node];
            place_[task] = at;
            before_[task] = ahead ? last_but_one[part] : last[part];
            last_but_one[part] = std::exchange(last[part], task);
        }
    }

    std::vector<PlacementMessage> run() {
        for (std::uint32_t mb = 0; mb < graph_.micro_batches; ++mb)
            for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
                std::set<std::uint32_t> elsewhere;
                for (const std::uint32_t reader : readers_[node])
                    if (graph_.gpu_of(parts_[reader]) != graph_.gpu_of(parts_[node]))
                        elsewhere.insert(parts_[reader]);
                for (const std::uint32_t part : elsewhere)
                    between(node, part, mb);
            }
        std::stable_sort(
            all_.begin(), all_.end(), [](const PlacementMessage& a, const PlacementMessage& b) {
                return a.behind < b.behind;
            });
        return std::move(all_);
    }

private:
    void between(std::uint32_t node, std::uint32_t part, std::uint32_t mb) {
        std::vector<std::uint32_t> readers;
        for (const std::uint32_t reader : readers_[node])
            if (parts_[reader] == part)
                readers.push_back(reader);
        const bool pieces = std::any_of(readers.begin(), readers.end(), [&](std::uint32_t reader) {
            return tasks_.alike(reader, node);
        });
        const std::uint32_t chunks = graph_.nodes[node].chunks;
        for (std::uint32_t c = 0; c < (pieces ? chunks : 1); ++c) {
            const double share = pieces && chunks > 1
                                     ? static_cast<double>(cut_.work().chunks().steps(c)) /
                                           static_cast<double>(cut_.network().tokens)
                                     : 1;
            PlacementMessage message;
            message.node = node;
            message.bytes = Bytes(static_cast<std::uint64_t>(
                std::max(1.0, std::ceil(graph_.nodes[node].output_bytes * share))));
            PlacementMessage back = message;
            back.forward = false;
            message.from = back.to = graph_.gpu_of(parts_[node]);
            message.to = back.from = graph_.gpu_of(part);
            message.makers = {tasks_.forward(node, mb, pieces ? c : chunks - 1)};
            back.takers = {tasks_.back(node, mb, pieces ? c : chunks - 1)};
            for (const std::uint32_t reader : readers) {
                const bool alike = tasks_.alike(reader, node);
                message.takers.push_back(tasks_.forward(reader, mb, alike ? c : 0));
                back.makers.push_back(tasks_.back(reader, mb, alike ? c : 0));
            }
            add(std::move(message));
            add(std::move(back));
        }
    }

    void add(PlacementMessage message) {
        const std::uint32_t first = *std::min_element(
            message.takers.begin(), message.takers.end(),
            [&](std::uint32_t a, std::uint32_t b) { return place_[a] < place_[b]; });
        message.after = before_[first];
        message.behind = message.after ? place_[*message.after] : 0;
        for (const std::uint32_t maker : message.makers)
            message.behind = std::max(message.behind, place_[maker]);
        message.tag = all_.size();
        all_.push_back(std::move(message));
    }

    const PlacedStep& cut_;
    const PlacementGraph& graph_;
    const PlacementTasks& tasks_;
    const NodeParts& parts_;
    std::vector<std::vector<std::uint32_t>> readers_;
    std::vector<std::uint32_t> place_;  ///< position in the order, by task
    std::vector<std::optional<std::uint32_t>> before_;
    std::vector<PlacementMessage> all_;
};

}  // namespace

std::vector<PlacementMessage> placement_messages(const PlacedStep& cut) {
    return MessageMaker(cut).run();
}

}  // namespace switchfold
