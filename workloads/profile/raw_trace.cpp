// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/raw_trace.h"

#include "sim/core/big_sort.h"
#include "sim/core/error.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/kineto/scanner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace switchfold {

namespace {

void read_header(const TraceScanner& scanner, TraceFileReport& report) {
    using Json = nlohmann::json;
    const auto value = [&](const char* key) {
        const auto found = scanner.values().find(key);
        return found == scanner.values().end() ? Json()
                                               : Json::parse(found->second, nullptr, false);
    };
    const Json devices = value("deviceProperties");
    if (devices.is_array() && !devices.empty() && devices[0].is_object()) {
        const Json& device = devices[0];
        if (device.contains("name") && device["name"].is_string())
            report.gpu_name = device["name"].get<std::string>();
        if (device.contains("totalGlobalMem") && device["totalGlobalMem"].is_number_unsigned())
            report.memory_bytes = device["totalGlobalMem"].get<std::uint64_t>();
        if (device.contains("numSms") && device["numSms"].is_number_unsigned())
            report.sms = device["numSms"].get<std::uint32_t>();
    }
    const Json distributed = value("distributedInfo");
    if (distributed.is_object()) {
        const auto number = [&](const char* key, std::uint32_t fallback) {
            const auto found = distributed.find(key);
            if (found == distributed.end())
                return fallback;
            constexpr std::uint64_t kMostRanks = 65'536;
            if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kMostRanks)
                throw ConfigError(
                    report.file,
                    fmt::format("/distributedInfo/{}", key),
                    fmt::format("is {}; expected a number of ranks", found->dump()));
            return found->get<std::uint32_t>();
        };
        report.rank = number("rank", 0);
        report.world_size = std::max(1U, number("world_size", 1));
        if (report.rank >= report.world_size)
            throw ConfigError(
                report.file,
                "/distributedInfo/rank",
                fmt::format(
                    "is {} of {} ranks; expected less than the world's size",
                    report.rank,
                    report.world_size));
    }
    const Json synthetic = value("switchfold_synthetic");
    report.synthetic = synthetic.is_boolean() && synthetic.get<bool>();
}

}  // namespace

RawTrace read_raw_trace(
    const std::filesystem::path& file, std::uint64_t max_inflated, const ExecutionTrace* shapes) {
    RawTrace raw;
    raw.report.file = file.string();
    raw.report.format = "Kineto";
    TraceScanner::Limits limits;
    limits.inflated = max_inflated;
    TraceScanner scanner(file, limits);
    EventCollector collector(raw);
    EventParser parser;
    TraceEvent event;
    std::vector<Problem> problems;
    scanner.run([&](std::string& text, std::uint64_t offset) {
        ++raw.report.events;
        try {
            parser.parse(text, event);
        } catch (const std::invalid_argument& error) {
            constexpr std::size_t kMostProblems = 20;
            problems.push_back(
                {file.string(),
                 fmt::format("byte {}", offset),
                 fmt::format("event {}: {}", raw.report.events - 1, error.what())});
            if (problems.size() == kMostProblems)
                throw ConfigError(std::move(problems));
            return;
        }
        collector.add(event);
    });
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    read_header(scanner, raw.report);
    if (shapes != nullptr)
        collector.take_shapes(*shapes);
    collector.finish();
    return raw;
}

void merge_intervals(BigVector<Interval>& intervals) {
    big_sort(intervals, [](const auto& a, const auto& b) { return a.start < b.start; });
    BigVector<Interval> merged;
    for (const Interval& interval : intervals.pass()) {
        if (!merged.empty() && interval.start <= merged.back().end)
            merged.back().end = std::max(merged.back().end, interval.end);
        else
            merged.push_back(interval);
    }
    intervals = std::move(merged);
}

bool covers(const BigVector<Interval>& merged, std::uint64_t time) {
    const auto after = std::upper_bound(
        merged.begin(), merged.end(), time, [](std::uint64_t t, const Interval& i) {
            return t < i.start;
        });
    return after != merged.begin() && time < std::prev(after)->end;
}

std::uint64_t covered(const BigVector<Interval>& merged, std::uint64_t start, std::uint64_t end) {
    auto at = std::upper_bound(
        merged.begin(), merged.end(), start, [](std::uint64_t t, const Interval& i) {
            return t < i.start;
        });
    if (at != merged.begin())
        --at;
    std::uint64_t sum = 0;
    for (; at != merged.end() && at->start < end; ++at) {
        const std::uint64_t from = std::max(start, at->start);
        const std::uint64_t to = std::min(end, at->end);
        if (to > from)
            sum += to - from;
    }
    return sum;
}

}  // namespace switchfold
