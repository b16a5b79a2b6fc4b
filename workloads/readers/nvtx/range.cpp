// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nvtx/range.h"

#include "core/letters.h"
#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace switchfold {

namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kSizes = ", sizes = ";

/// "step 3", "iteration_12", "ProfilerStep#4", "batch: 7", "step"; `name` is in lower case.
bool is_step(std::string_view name) {
    for (const std::string_view word : {"profilerstep", "step", "iteration", "iter", "batch"}) {
        if (!name.starts_with(word))
            continue;
        const std::string_view rest = name.substr(word.size());
        if (rest.empty())
            return word == "step" || word == "iteration";
        const std::size_t number = rest.find_first_not_of(" _#:");
        if (number == std::string_view::npos || !is_digit(rest[number]))
            continue;
        const std::size_t end = rest.find_first_not_of("0123456789", number);
        if (end == std::string_view::npos || !is_letter(rest[end]))
            return true;
    }
    return false;
}

/// The mark as the Kineto reader knows it; empty if the range is neither a step nor a phase.
std::string mark_of(std::string_view text) {
    const std::string name = lower(text);
    if (is_step(name))
        return "ProfilerStep#0";
    for (const std::string_view phase : {"forward", "backward", "optimizer"})
        if (name.starts_with(phase) &&
            (name.size() == phase.size() || !is_letter(name[phase.size()])))
            return fmt::format("## {} ##", phase);
    return {};
}

/// NCCL's function that the range stands for; empty if none. Some versions append "()".
std::string_view collective_of(std::string_view text) {
    constexpr std::array<std::string_view, 6> kCollectives{
        "AllReduce", "ReduceScatter", "AllGather", "Broadcast", "Reduce", "AlltoAll"};
    constexpr std::string_view kPrefix = "nccl";
    if (!text.starts_with(kPrefix))
        return {};
    text.remove_prefix(kPrefix.size());
    if (text.ends_with("()"))
        text.remove_suffix(2);
    if (text == "Send" || text == "Recv")
        return "SendRecv";
    const auto found = std::find(kCollectives.begin(), kCollectives.end(), text);
    return found == kCollectives.end() ? std::string_view() : *found;
}

/// Whether emit_nvtx wrote the range: it names operators of PyTorch and its extensions
/// ("torchvision::nms") and nodes of the autograd graph ("AddmmBackward0").
bool is_operator(std::string_view text, std::string_view name) {
    return contains(name, "::") || without_number(name).ends_with("Backward") ||
           contains(text, kSequence) || contains(text, kSizes);
}

/// The bracketed list at the start of `text`; empty if it is not closed.
std::string_view bracketed(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '[' ? 1 : 0;
        depth -= text[i] == ']' && depth > 0 ? 1 : 0;
        if (depth == 0)
            return text[i] == ']' ? text.substr(0, i + 1) : std::string_view();
    }
    return {};
}

}  // namespace

void describe_range(
    std::string_view text, std::optional<std::uint64_t> payload_bytes, TraceEvent& event) {
    event.category = "user_annotation";
    if (const std::string_view collective = collective_of(text); !collective.empty()) {
        event.name = fmt::format("nccl:{}", collective);
        if (payload_bytes && *payload_bytes > 0) {
            event.input_dims = fmt::format("[[{}]]", *payload_bytes);
            event.input_types = R"(["Byte"])";
        }
        return;
    }
    if (std::string mark = mark_of(text); !mark.empty()) {
        event.name = std::move(mark);
        return;
    }
    const std::string_view name = text.substr(0, text.find(", "));
    if (!is_operator(text, name)) {
        event.name = text;
        return;
    }
    event.category = "cpu_op";
    event.name = name;
    if (const std::size_t sizes = text.find(kSizes); sizes != std::string_view::npos)
        event.input_dims = bracketed(text.substr(sizes + kSizes.size()));
}

}  // namespace switchfold
