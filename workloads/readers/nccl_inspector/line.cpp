// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_inspector/line.h"

#include "core/error.h"
#include "core/text.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::nccl_inspector {

namespace {

constexpr double kMostUs = 1e12;

Place place_of(const JsonFields& line, const JsonFields& header) {
    Place place;
    place.communicator = header.text("id");
    place.ranks = static_cast<std::uint32_t>(header.whole("n_ranks", kMostTracedRanks));
    place.rank = static_cast<std::uint32_t>(header.whole("rank", kMostTracedRanks));
    if (place.rank >= place.ranks)
        header.fail(
            "rank",
            fmt::format("is {} of {} ranks; expected less than those", place.rank, place.ranks));
    if (const auto metadata = line.object_if_any("metadata")) {
        place.process = fmt::format(
            "{} {}", metadata->text_if_any("hostname"),
            metadata->whole_if_any("pid", UINT64_MAX).value_or(0));
    }
    return place;
}

/// "ring" of "RING"; the Inspector writes "unknown" where NCCL told none.
std::string told(const std::string& word) {
    const std::string name = lower(word);
    return name == "unknown" ? std::string() : name;
}

/// When the first channel's kernel began, in the verbose form.
std::optional<std::uint64_t> start_of(const JsonFields& record) {
    const auto trace = record.object_if_any("event_trace_ts");
    if (!trace)
        return std::nullopt;
    std::optional<std::uint64_t> first;
    constexpr std::uint64_t kLatestUs = UINT64_MAX / 1000;  // fits ns
    for (const JsonFields& channel : trace->objects("kernel_events")) {
        const auto start = channel.whole_if_any("kernel_start_ts", kLatestUs);
        if (start && *start > 0)
            first = std::min(first.value_or(*start), *start);
    }
    return first;
}

void read_operation(const JsonFields& record, const char* prefix, Line& line) {
    const auto key = [prefix](const char* name) { return fmt::format("{}_{}", prefix, name); };
    line.name = record.text(prefix);
    line.number = record.whole_if_any(key("sn").c_str(), kMostJsonNumber).value_or(0);
    line.bytes = record.whole(key("msg_size_bytes").c_str(), kMostTracedBytes);
    line.us = record.number_if_any(key("exec_time_us").c_str(), kMostUs).value_or(0);
    const std::string source = record.text_if_any(key("timing_source").c_str());
    line.timed_on_host = !source.empty() && source != "kernel_gpu";
    line.algorithm = told(record.text_if_any(key("algo").c_str()));
    line.protocol = told(record.text_if_any(key("proto").c_str()));
    line.start_us = start_of(record);
}

}  // namespace

Line parse_line(const std::string& text, const std::string& file, std::uint64_t number) {
    const std::string where = fmt::format("line {}", number);
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        throw ConfigError(file, where, "is not JSON; expected an object on each line");
    const JsonFields fields(json, file, where + ": ");
    Line line;
    if (const auto header = fields.object_if_any("header"))
        line.place = place_of(fields, *header);
    if (const auto collective = fields.object_if_any("coll_perf")) {
        read_operation(*collective, "coll", line);
    } else if (const auto transfer = fields.object_if_any("p2p_perf")) {
        line.what = Line::What::kTransfer;
        read_operation(*transfer, "p2p", line);
        line.peer = static_cast<std::uint32_t>(transfer->whole("p2p_peer", kMostTracedRanks));
    } else if (const auto statistics = fields.object_if_any("dump_stats")) {
        line.what = Line::What::kStatistics;
        for (const char* key : {"coll_dropped_since_last_dump", "p2p_dropped_since_last_dump"})
            line.lost += statistics->whole_if_any(key, kMostTracedBytes).value_or(0);
    } else if (fields.has("proxy_trace")) {
        line.what = Line::What::kProxy;
    } else {
        throw ConfigError(
            file, where,
            "holds no coll_perf, p2p_perf, dump_stats or proxy_trace; expected a line of NCCL's "
            "Inspector");
    }
    return line;
}

}  // namespace switchfold::nccl_inspector
