// SPDX-License-Identifier: Apache-2.0
#include "workloads/nsight/nvtx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace switchfold::nsight {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return out;
}

bool begins(std::string_view text, std::string_view with) {
    return text.substr(0, with.size()) == with;
}

/// "step 3", "iteration_12", "ProfilerStep#4".
bool is_step(const std::string& name) {
    for (const std::string_view word : {"profilerstep", "step", "iteration", "iter", "batch"}) {
        if (!begins(name, word))
            continue;
        std::string_view rest = std::string_view(name).substr(word.size());
        while (!rest.empty() &&
               (rest[0] == ' ' || rest[0] == '_' || rest[0] == '#' || rest[0] == ':'))
            rest.remove_prefix(1);
        if (!rest.empty() && std::all_of(rest.begin(), rest.end(), [](unsigned char c) {
                return std::isdigit(c) != 0;
            }))
            return true;
    }
    return false;
}

/// The names under which the trace's phases are known.
std::string phase_name(const std::string& name) {
    if (is_step(name))
        return "ProfilerStep#0";
    for (const std::string_view phase : {"forward", "backward", "optimizer"})
        if (name == phase || begins(name, fmt::format("{} ", phase)) ||
            begins(name, fmt::format("{}.", phase)))
            return fmt::format("## {} ##", phase);
    return {};
}

struct NcclCall {
    std::string_view call;
    std::string_view collective;
};
constexpr std::array<NcclCall, 8> kNcclCalls{
    {{"ncclAllReduce", "allreduce"},
     {"ncclReduceScatter", "reduce_scatter"},
     {"ncclAllGather", "allgather"},
     {"ncclBroadcast", "broadcast"},
     {"ncclReduce", "_reduce"},
     {"ncclAlltoAll", "all_to_all"},
     {"ncclSend", "sendrecv"},
     {"ncclRecv", "sendrecv"}}};

}  // namespace

TraceEvent event_of_range(std::string text, std::optional<std::uint64_t> payload_bytes) {
    TraceEvent event;
    event.phase = "X";
    event.category = "user_annotation";
    for (const NcclCall& call : kNcclCalls)
        if (begins(text, call.call) && call.call.size() + 2 >= text.size()) {
            event.name = fmt::format("nccl:{}", call.collective);
            if (payload_bytes && *payload_bytes > 0) {
                event.input_dims = fmt::format("[[{}]]", *payload_bytes);
                event.input_types = R"(["Byte"])";
            }
            return event;
        }
    if (std::string phase = phase_name(lower(text)); !phase.empty()) {
        event.name = std::move(phase);
        return event;
    }
    const std::size_t sizes = text.find(", sizes = [");
    if (text.find(", seq = ") != std::string::npos || sizes != std::string::npos ||
        begins(text, "aten::")) {
        event.category = "cpu_op";
        if (sizes != std::string::npos) {
            const std::size_t from = text.find('[', sizes);
            const std::size_t end = text.rfind(']');
            if (end != std::string::npos && end > from)
                event.input_dims = text.substr(from, end + 1 - from);
        }
        text.resize(std::min(text.find(", "), text.size()));
    }
    event.name = std::move(text);
    return event;
}

}  // namespace switchfold::nsight
