// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/reader.h"

#include "sim/core/error.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/kineto/event_parser.h"
#include "workloads/readers/kineto/scanner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

void read_header(const TraceScanner& scanner, RawTrace& raw) {
    TraceFileReport& report = raw.report;
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
        const auto read = [&device](const char* key, auto& into) {
            if (device.contains(key) && device[key].is_number_unsigned())
                into = device[key].template get<std::decay_t<decltype(into)>>();
        };
        read("computeMajor", raw.limits.compute_major);
        read("maxThreadsPerMultiprocessor", raw.limits.threads);
        read("regsPerMultiprocessor", raw.limits.registers);
        read("sharedMemPerMultiprocessor", raw.limits.shared_memory);
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
    const auto is_set = [&](const char* key) {
        const Json flag = value(key);
        return flag.is_boolean() && flag.get<bool>();
    };
    report.simulated = is_set("switchfold_simulated");
    report.synthetic = report.simulated || is_set("switchfold_synthetic");
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
    read_header(scanner, raw);
    if (shapes != nullptr)
        collector.take_shapes(*shapes);
    collector.finish();
    return raw;
}

TraceWorkload read_kineto(const KinetoOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    std::vector<TraceWorkload> ranks;
    for (const std::filesystem::path& file : options.files)
        ranks.push_back(workload_of(read_raw_trace(file, options.max_inflated)));
    return join_ranks(std::move(ranks));
}

}  // namespace switchfold
