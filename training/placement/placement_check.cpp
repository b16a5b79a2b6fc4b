// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "training/placement/layer_chunks.h"
#include "training/placement/placed_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

/// Length of the match between a word and a layer's name: all of the word, or its part before a
/// "*".
std::optional<std::size_t> fit(const std::string& word, const std::string& layer) {
    if (word == layer)
        return layer.size() + 1;
    if (word.ends_with('*') && layer.starts_with(std::string_view(word).substr(0, word.size() - 1)))
        return word.size() - 1;
    return {};
}

/// Parts with the longest match for a layer.
std::vector<std::uint32_t> parts_of(const PlacementChoice& choice, const std::string& layer) {
    std::vector<std::uint32_t> parts;
    std::size_t longest = 0;
    for (std::uint32_t part = 0; part < choice.layers.size(); ++part)
        for (const std::string& word : choice.layers[part]) {
            const auto length = fit(word, layer);
            if (!length || *length < longest)
                continue;
            if (*length > longest)
                parts.clear();
            longest = *length;
            if (parts.empty() || parts.back() != part)
                parts.push_back(part);
        }
    return parts;
}

class PlacementCheck {
public:
    PlacementCheck(
        const PlacementChoice& choice, const ParallelPlan& plan, const Network& network) :
        choice_(choice), plan_(plan), network_(network) {}

    PlanProblems run() {
        other_ways();
        parts();
        names();
        steps();
        return std::move(problems_);
    }

private:
    void problem(std::string key, std::string what) {
        problems_.emplace_back(std::move(key), std::move(what));
    }

    void other_ways() {
        const auto excluded = [&](const char* key, bool asked, const char* expected) {
            if (asked)
                problem(key, fmt::format("does not go with a placement; expected {}", expected));
        };
        excluded("/pipeline", plan_.pipeline > 1, "1: a placement has parts instead of stages");
        excluded(
            "/recompute", plan_.recompute == Recompute::kExact,
            "none, selective or full: exact is chosen by a plan of memory");
        excluded(
            "/schedule", plan_.given || plan_.schedule != ParallelPlan().schedule,
            "none: a part takes what is ready and has the longest way to the end");
        excluded("/partition", !plan_.partition.empty(), "auto: parts of the placement say it");
        excluded("/unit", plan_.unit.count() > 0, "0: a part of a block is gathered at a time");
        excluded("/weights", plan_.weights != WeightPolicy::kLatest, "latest");
        excluded("/messages", plan_.messages == Messages::kBlocking, "overlapped or ahead");
        excluded("/launches", plan_.launch_times.wait_after_pass, "wait_after_pass false");
    }

    void parts() {
        const std::size_t layers = network_.layers.size();
        if (choice_.parts > layers)
            problem(
                "/placement/parts",
                fmt::format(
                    "are {}, and {} has {} layers; expected at most as many parts as layers",
                    choice_.parts, network_.name, layers));
        const std::uint32_t gpus = choice_.gpus_used();
        if (choice_.parts % gpus != 0)
            problem(
                "/placement/gpus",
                fmt::format(
                    "are {}, which do not share {} parts evenly; expected a divisor of them", gpus,
                    choice_.parts));
        else if (choice_.layers.empty() && gpus != 1 && gpus != choice_.parts)
            problem(
                "/placement/gpus",
                fmt::format(
                    "are {}, and {} parts are to be found, which have a GPU each or one for all; "
                    "expected 0 or 1, or the layers of each part",
                    gpus, choice_.parts));
        for (const Layer& layer : network_.layers)
            if (layer.shares) {
                problem(
                    "/placement",
                    fmt::format(
                        "divides no layers that share weights, as {} does those of {}; expected a "
                        "network without",
                        layer.name, network_.layers[*layer.shares].name));
                return;
            }
    }

    void names() {
        std::vector<std::string_view> known;
        for (const Layer& layer : network_.layers)
            known.emplace_back(layer.name);
        for (std::size_t part = 0; part < choice_.layers.size(); ++part)
            for (std::size_t i = 0; i < choice_.layers[part].size(); ++i) {
                const std::string& word = choice_.layers[part][i];
                if (std::any_of(
                        network_.layers.begin(), network_.layers.end(),
                        [&](const Layer& layer) { return fit(word, layer.name).has_value(); }))
                    continue;
                const std::string near = nearest(word, known);
                problem(
                    fmt::format("/placement/parts/{}/{}", part, i),
                    fmt::format(
                        "names no layer of {}: \"{}\"; expected a layer, or how names begin and "
                        "\"*\"{}",
                        network_.name, word,
                        near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
            }
        if (choice_.layers.empty() || !problems_.empty())
            return;
        std::vector<bool> used(choice_.layers.size(), false);
        for (const Layer& layer : network_.layers) {
            const std::vector<std::uint32_t> parts = parts_of(choice_, layer.name);
            if (parts.empty())
                problem(
                    "/placement/parts",
                    fmt::format("have no {}; expected each layer on one part", layer.name));
            else if (parts.size() > 1)
                problem(
                    "/placement/parts",
                    fmt::format(
                        "have {} twice, on {} and {}; expected each layer on one part", layer.name,
                        parts[0], parts[1]));
            else
                used[parts.front()] = true;
        }
        for (std::size_t part = 0; part < used.size(); ++part)
            if (!used[part] && problems_.empty())
                problem(
                    fmt::format("/placement/parts/{}", part),
                    "has no layer: other parts name them more closely; expected one at least");
    }

    void steps() {
        if (choice_.chunk_steps == 0)
            return;
        bool any = false;
        for (std::uint32_t i = 0; i < network_.layers.size(); ++i)
            any = any || is_lstm_of_steps(network_, i);
        if (!any)
            problem(
                "/placement/chunk_steps",
                fmt::format(
                    "is {}, and {} has no LSTM whose time steps are known; expected 0",
                    choice_.chunk_steps, network_.name));
        else if (choice_.chunk_steps > network_.tokens)
            problem(
                "/placement/chunk_steps",
                fmt::format(
                    "is {}, and a sample of {} has {} time steps; expected at most those",
                    choice_.chunk_steps, network_.name, network_.tokens));
    }

    const PlacementChoice& choice_;
    const ParallelPlan& plan_;
    const Network& network_;
    PlanProblems problems_;
};

}  // namespace

PlanProblems
problems_of(const PlacementChoice& choice, const ParallelPlan& plan, const Network& network) {
    return PlacementCheck(choice, plan, network).run();
}

NodeParts parts_named(const PlacementChoice& choice, const Network& network) {
    NodeParts parts;
    for (const Layer& layer : network.layers)
        parts.push_back(parts_of(choice, layer.name).front());
    return parts;
}

}  // namespace switchfold
