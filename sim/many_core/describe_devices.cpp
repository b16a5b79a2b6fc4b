// SPDX-License-Identifier: Apache-2.0
#include "sim/many_core/describe_devices.h"

#include "sim/many_core/rates.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

constexpr double kGiga = 1e9;
/// 64-bit numbers of an array; larger than any cache.
constexpr std::uint64_t kStreamElements = 64'000'000;

std::string plural(std::uint32_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string describe_device(const DeviceParams& device) {
    const ProcessorParams& processor = *device.processor;
    const ProcessorCacheParams& cache = processor.cache;
    std::string out = fmt::format(
        "  {}: {}, {}\n    {} of {} at {}, vectors of {} 32-bit numbers\n    caches: {} a core{}\n "
        "   "
        "memory: {} at {} peak\n",
        device.name, processor.name, device.link ? "a coprocessor" : "a socket of the host",
        plural(processor.cores, "core"), plural(processor.threads_per_core, "thread"),
        to_string(processor.clock), processor.simd_lanes, to_string(cache.private_capacity),
        cache.shared_capacity.count() > 0
            ? fmt::format(", {} shared", to_string(cache.shared_capacity))
            : ", none shared",
        to_string(processor.memory.capacity), to_string(processor.memory.peak));
    for (std::uint32_t threads = 1; threads <= processor.threads_per_core; ++threads)
        out += fmt::format(
            "    {} a core: {:.1f} GFLOP/s, STREAM triad {:.1f} GB/s\n", plural(threads, "thread"),
            arithmetic_rate(processor, threads) / kGiga,
            stream_rate(
                processor, StreamKernel::kTriad, processor.cores, threads, kStreamElements) /
                kGiga);
    if (cores_for_programs(device) < processor.cores)
        out +=
            fmt::format("    programs of a host get {} of its cores\n", cores_for_programs(device));
    if (device.link)
        out += fmt::format(
            "    link to the host: {} each way, {} latency\n", to_string(device.link->bandwidth),
            to_string(device.link->latency));
    return out;
}

}  // namespace

std::string describe_devices(const SystemParams& system) {
    std::string names;
    for (const DeviceParams& device : system.devices)
        names += (names.empty() ? "" : ", ") + device.processor->name;
    std::string out = fmt::format("{}: {}\n", system.name, names);
    for (const DeviceParams& device : system.devices)
        out += describe_device(device);
    return out + fmt::format(
                     "\na workload of type many_core runs on {}, unless it names another device\n",
                     find_device(system.devices, "")->name);
}

std::string draw_devices(const SystemParams& system) {
    const auto socket = std::ranges::find_if(
        system.devices, [](const DeviceParams& device) { return !device.link; });
    const std::string host = socket == system.devices.end() ? "host" : socket->name;
    std::string out =
        fmt::format("graph \"{}\" {{\n  node [shape=box fontname=\"sans-serif\"]\n", system.name);
    if (socket == system.devices.end())
        out += "  \"host\"\n";
    for (const DeviceParams& device : system.devices)
        out +=
            fmt::format("  \"{0}\" [label=\"{0}\\n{1}\"]\n", device.name, device.processor->name);
    for (const DeviceParams& device : system.devices)
        if (device.link)
            out += fmt::format(
                "  \"{}\" -- \"{}\" [label=\"{}\"]\n", host, device.name,
                to_string(device.link->bandwidth));
    return out + "}\n";
}

}  // namespace switchfold
