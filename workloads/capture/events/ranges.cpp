// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/ranges.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace switchfold::capture {

namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kSizes = ", sizes = ";

/// A node of the autograd graph: "AddmmBackward0".
bool is_backward_node(std::string_view name) {
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0)
        name.remove_suffix(1);
    return name.ends_with("Backward");
}

bool is_operator(std::string_view text, std::string_view name) {
    return name.find("::") != std::string_view::npos || is_backward_node(name) ||
           text.find(kSequence) != std::string_view::npos ||
           text.find(kSizes) != std::string_view::npos;
}

/// The bracketed list that begins at the start of `text`; empty if it does not close.
std::string_view bracketed(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '[' ? 1 : 0;
        depth -= text[i] == ']' && depth > 0 ? 1 : 0;
        if (depth == 0)
            return text.substr(0, i + 1);
    }
    return {};
}

/// The marks that the reader of Kineto traces knows.
std::string mark(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMarks{
        {{"step", "ProfilerStep#"},
         {"iteration", "ProfilerStep#"},
         {"forward", "## forward ##"},
         {"backward", "## backward ##"},
         {"optimizer", "## optimizer ##"}}};
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    for (const auto& [beginning, known] : kMarks)
        if (lower.starts_with(beginning))
            return std::string(known);
    return std::string(text);
}

}  // namespace

void describe_range(std::string_view text, TraceEvent& event) {
    const std::string_view name = text.substr(0, text.find(", "));
    // PyTorch's own step and optimizer marks keep their names: the readers know them.
    if (!is_operator(text, name) || text.starts_with("Optimizer.")) {
        event.category = "user_annotation";
        event.name = text.starts_with("Optimizer.") ? std::string(text) : mark(text);
        return;
    }
    event.category = "cpu_op";
    event.name = std::string(name);
    const std::size_t sizes = text.find(kSizes);
    if (sizes != std::string_view::npos)
        event.input_dims = std::string(bracketed(text.substr(sizes + kSizes.size())));
}

}  // namespace switchfold::capture
