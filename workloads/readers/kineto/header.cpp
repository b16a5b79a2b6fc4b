// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/header.h"

#include "core/error.h"
#include "workloads/profile/collective_operation.h"
#include "workloads/readers/input/limits.h"
#include "workloads/readers/input/listed_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// The device whose "id" is that of the kernels, or else the first.
const Json* device_of(const Json& devices, std::uint64_t device) {
    if (!devices.is_array())
        return nullptr;
    const Json* first = nullptr;
    for (const Json& one : devices) {
        if (!one.is_object())
            continue;
        if (first == nullptr)
            first = &one;
        const auto id = one.find("id");
        if (id != one.end() && id->is_number_unsigned() && id->get<std::uint64_t>() == device)
            return &one;
    }
    return first;
}

void take_device(const Json& device, RawTrace& raw) {
    TraceFileReport& report = raw.report;
    const auto number = [&](const char* key) -> std::uint64_t {
        const auto found = device.find(key);
        return found != device.end() && found->is_number_unsigned() ? found->get<std::uint64_t>()
                                                                    : 0;
    };
    if (device.contains("name") && device["name"].is_string())
        report.gpu_name = device["name"].get<std::string>();
    report.memory_bytes = number("totalGlobalMem");
    report.sms = static_cast<std::uint32_t>(std::min<std::uint64_t>(number("numSms"), UINT32_MAX));
    raw.limits.compute_major =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(number("computeMajor"), UINT32_MAX));
    raw.limits.threads = number("maxThreadsPerMultiprocessor");
    raw.limits.registers = number("regsPerMultiprocessor");
    raw.limits.shared_memory = number("sharedMemPerMultiprocessor");
}

void take_rank(const Json& distributed, TraceFileReport& report) {
    report.states_rank = distributed.contains("rank");
    const auto number = [&](const char* key, std::uint32_t fallback) {
        const auto found = distributed.find(key);
        if (found == distributed.end())
            return fallback;
        if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kMostTracedRanks)
            throw ConfigError(
                report.file, fmt::format("/distributedInfo/{}", key),
                fmt::format("is {}; expected a number of ranks", found->dump()));
        return found->get<std::uint32_t>();
    };
    report.rank = number("rank", 0);
    report.world_size = std::max(1U, number("world_size", 1));
    if (report.rank >= report.world_size)
        throw ConfigError(
            report.file, "/distributedInfo/rank",
            fmt::format(
                "is {} of {} ranks; expected less than the world's size", report.rank,
                report.world_size));
}

/// Process groups whose ranks are listed as a whole.
void take_groups(const Json& distributed, RawTrace& raw) {
    const auto groups = distributed.find("pg_config");
    if (groups == distributed.end() || !groups->is_structured())
        return;
    for (const Json& entry : *groups)
        if (auto group = listed_group(entry, kMostTracedRanks); group && group->whole)
            raw.groups[group->name] = std::move(group->ranks);
}

}  // namespace

void read_header(
    const std::map<std::string, std::string>& values, std::uint64_t device, RawTrace& raw) {
    const auto value = [&](const char* key) {
        const auto found = values.find(key);
        return found == values.end() ? Json() : Json::parse(found->second, nullptr, false);
    };
    TraceFileReport& report = raw.report;
    const Json devices = value("deviceProperties");
    if (const Json* const found = device_of(devices, device))
        take_device(*found, raw);
    const Json distributed = value("distributedInfo");
    report.states_rank = false;
    if (distributed.is_object()) {
        take_rank(distributed, report);
        take_groups(distributed, raw);
    }
    const auto is_set = [&](const char* key) {
        const Json flag = value(key);
        return flag.is_boolean() && flag.get<bool>();
    };
    report.simulated = is_set("switchfold_simulated");
    report.synthetic = report.simulated || is_set("switchfold_synthetic");
}

std::uint32_t largest_world(const RawTrace& raw) {
    std::uint64_t most = 1;
    for (const CollectiveDetails& details : raw.collectives.pass()) {
        most = std::max(most, details.group_size);
        const std::vector<std::uint32_t> ranks = listed_ranks(raw, details);
        if (!ranks.empty())
            most = std::max<std::uint64_t>(most, std::uint64_t{ranks.back()} + 1);
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, kMostTracedRanks));
}

}  // namespace switchfold
