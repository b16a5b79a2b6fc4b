// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/knobs.h"

#include "core/units.h"
#include "sim/config/load.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace switchfold::validation {

namespace {

constexpr std::string_view kCollectiveTimes = "small messages of all collectives";

constexpr std::array kKnobs{
    Knob{
        "links between GPUs",
        Told::kCollectives,
        {"/topology/link/efficiency_ppm", "/topology/bridge_link/efficiency_ppm",
         "/topology/trunk_link/efficiency_ppm", "/topology/links/*/efficiency_ppm",
         "/topology/node/link/efficiency_ppm", "/topology/node/bridge_link/efficiency_ppm"},
        0.5,
        1.25,
        0.06,
        "the usable share of NVLink's and xGMI's lines is 0.80 to 0.97 in what was measured",
        "messages of some 10 MiB and more, inside a machine"},
    Knob{
        "PCIe links",
        Told::kCollectives,
        {"/topology/gpu_link/efficiency_ppm", "/topology/switch_link/efficiency_ppm",
         "/topology/node/gpu_link/efficiency_ppm", "/topology/node/switch_link/efficiency_ppm",
         "/topology/nics/link/efficiency_ppm", "/topology/nics/gpu_link/efficiency_ppm"},
        0.5,
        1.15,
        0.06,
        "the usable share of PCIe 3 to 5 is 0.86 to 0.96 in what was measured",
        "messages of some MiB and more between PCIe cards"},
    Knob{
        "path between sockets",
        Told::kCollectives,
        {"/topology/root_link/lane_bandwidth", "/topology/node/root_link/lane_bandwidth"},
        0.15,
        4,
        0.5,
        "assumed in most systems, from 9.6 to 48 GB/s: boards differ in links and their speed",
        "messages of some MiB and more over cards of both sockets"},
    Knob{
        "host memory",
        Told::kCollectives,
        {"/topology/memory_link/lane_bandwidth", "/topology/node/memory_link/lane_bandwidth"},
        0.2,
        4,
        0.4,
        "assumed: boards differ in the number and speed of their memory's channels",
        "messages of some MiB and more between cards without peer-to-peer"},
    Knob{
        "network",
        Told::kCollectives,
        {"/topology/network/link/efficiency_ppm", "/topology/network/spine_link/efficiency_ppm",
         "/topology/network/switch_link/efficiency_ppm",
         "/topology/network/global_link/efficiency_ppm"},
        0.3,
        1.1,
        0.08,
        "92 to 98 % of the line are usual, and clouds promise less",
        "messages of some 10 MiB and more across machines"},
    Knob{
        "launch",
        Told::kCollectives,
        {"/collectives/launch_latency", "/collectives/launch_spread"},
        0.3,
        3,
        0.3,
        "3 to 9.3 us in what was fitted, by GPU, library and driver",
        kCollectiveTimes},
    Knob{
        "host's launch",
        Told::kCollectives,
        {"/collectives/host_launch"},
        0.2,
        5,
        0.5,
        "hosts' cores and drivers differ by a factor of two and more",
        "small messages where one process drives several GPUs"},
    Knob{
        "latencies of LL",
        Told::kCollectives,
        {"/collectives/ll/start_overhead", "/collectives/ll/hop_overhead",
         "/collectives/ll/slice_overhead", "/collectives/ll/threads_start",
         "/collectives/ll/threads_hop"},
        0.2,
        5,
        0.4,
        "hops take 0.4 to 2.4 us in what was fitted",
        "messages of up to some 100 KiB"},
    Knob{
        "latencies of LL128",
        Told::kCollectives,
        {"/collectives/ll128/start_overhead", "/collectives/ll128/hop_overhead",
         "/collectives/ll128/slice_overhead"},
        0.2,
        5,
        0.4,
        "as of LL",
        "messages of some 100 KiB to some 10 MiB over NVLink"},
    Knob{
        "latencies of Simple",
        Told::kCollectives,
        {"/collectives/simple/start_overhead", "/collectives/simple/hop_overhead",
         "/collectives/simple/slices_hop", "/collectives/simple/slice_overhead"},
        0.2,
        5,
        0.4,
        "as of LL",
        "messages of some 100 KiB to some 10 MiB"},
    Knob{
        "rates of thread blocks",
        Told::kCollectives,
        {"/collectives/ll/block_rate", "/collectives/ll128/block_rate",
         "/collectives/ll128/gpu_rate", "/collectives/simple/block_rate",
         "/collectives/simple/load_store_rate", "/collectives/host_store_rate"},
        0.4,
        2.5,
        0.15,
        "follow the GPU's clock, and library versions differ in instructions",
        "messages of 1 MiB and more over few GPUs"},
    Knob{
        "in-switch latencies",
        Told::kCollectives,
        {"/collectives/in_switch_sync", "/collectives/in_switch_copy_round"},
        0.3,
        3,
        0.3,
        "fitted on one machine, at 2 MiB",
        "all-reduces of some MiB by the switch"},
    Knob{
        "network latencies",
        Told::kCollectives,
        {"/collectives/ll/network_overhead", "/collectives/ll/network_post",
         "/collectives/ll128/network_overhead", "/collectives/ll128/network_post",
         "/collectives/simple/network_overhead", "/collectives/simple/network_post"},
        0.2,
        5,
        0.4,
        "networks and their plug-ins differ by a factor of two in what was fitted",
        "messages of up to some MiB across machines"},
    Knob{
        "proxy threads",
        Told::kCollectives,
        {"/collectives/proxy_overhead", "/collectives/proxy_launch"},
        0.2,
        5,
        0.5,
        "hosts' cores, drivers and network plug-ins differ",
        "small messages across machines"},
    Knob{
        "sustained matrix rate",
        Told::kKernels,
        {"/gpu/matrix_rate"},
        0.6,
        1.5,
        0.08,
        "GPUs of one model and their cooling differ by some percent in clock at the power limit",
        "large matrix products"},
    Knob{
        "HBM",
        Told::kKernels,
        {"/gpu/memory/hbm/peak"},
        0.7,
        1.2,
        0.04,
        "a data sheet's number; what streams get of it is modelled",
        "kernels that wait for memory: thin products, attention on few tokens"},
    Knob{
        "clocks",
        Told::kKernels,
        {"/gpu/arithmetic/vector_rate", "/gpu/arithmetic/half_rate", "/gpu/arithmetic/float8_rate",
         "/gpu/arithmetic/tf32_rate", "/gpu/arithmetic/operand_bandwidth",
         "/gpu/memory/l2/bandwidth"},
        0.6,
        1.3,
        0.06,
        "clocks that users fix, and caps of power, lie some percent below the data sheet's",
        "matrix products of middle size"},
    Knob{
        "launch of kernels",
        Told::kKernels,
        {"/gpu/arithmetic/launch"},
        0.3,
        4,
        0.3,
        "1 to 2 us in what was fitted; more without CUDA graphs",
        "the smallest kernels"},
    Knob{
        "copies from the host",
        Told::kCopies,
        {"/gpu/copy/host_bandwidth"},
        0.3,
        1.3,
        0.15,
        "slots, IOMMUs and boards between GPU and memory differ",
        "large pinned copies to the GPU"},
    Knob{
        "copies to the host",
        Told::kCopies,
        {"/gpu/copy/to_host_bandwidth"},
        0.3,
        1.3,
        0.15,
        "as of copies from the host",
        "large pinned copies to the host"}};

std::string time_text(std::uint64_t count) {
    return to_string(Time(count));
}
std::string bandwidth_text(std::uint64_t count) {
    return to_string(Bandwidth(count));
}
std::string flops_text(std::uint64_t count) {
    return to_string(FlopRate(count));
}

/// Reads text by one of the units; false if it is of another.
template <class Parse>
bool read_as(
    const std::string& text, Parse parse, std::string (*write)(std::uint64_t), Turned& out) {
    try {
        out.shipped = static_cast<double>(parse(text).count());
        out.text = write;
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

/// Whether it is a positive number, with or without a unit.
bool read_parameter(const Json& value, Turned& out) {
    if (value.is_number()) {
        out.shipped = value.get<double>();
    } else if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (!read_as(text, parse_time, time_text, out) &&
            !read_as(text, parse_bandwidth, bandwidth_text, out) &&
            !read_as(text, parse_flop_rate, flops_text, out))
            return false;
    }
    return out.shipped > 0;
}

/// Adds what the pattern's tokens from `rest` on name below `at`.
void collect(
    const Json& at, std::string_view rest, const std::string& path, std::vector<Turned>& out) {
    if (rest.empty()) {
        Turned found{path, 0, nullptr, 0};
        constexpr double kWholeLine = 1'000'000;
        if (path.ends_with("efficiency_ppm"))
            found.most = kWholeLine;
        if (read_parameter(at, found))
            out.push_back(std::move(found));
        return;
    }
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string token(rest.substr(0, end));
    if (!at.is_object())
        return;
    for (const auto& [key, value] : at.items())
        if (token == "*" || key == token)
            collect(value, rest.substr(end), path + "/" + escape_token(key), out);
}

}  // namespace

std::string_view told_word(Told told) {
    switch (told) {
    case Told::kCollectives:
        return "collectives";
    case Told::kKernels:
        return "kernels";
    case Told::kCopies:
        return "copies";
    }
    return "";
}

std::span<const Knob> knobs() {
    return kKnobs;
}

Json Turned::at(double factor) const {
    constexpr double kDigits = 3;  // besides the first
    double value = shipped * factor;
    const double step = std::pow(10.0, std::floor(std::log10(value)) - kDigits);
    value = std::max(1.0, std::round(value / step) * step);
    if (most > 0)
        value = std::min(value, most);
    const auto whole = static_cast<std::uint64_t>(std::llround(value));
    return text == nullptr ? Json(whole) : Json(text(whole));
}

std::vector<Dial> dials_of(const SystemParams& system, std::span<const Told> told) {
    const Json json = system_json(system);
    std::vector<Dial> dials;
    for (const Knob& knob : kKnobs) {
        if (std::find(told.begin(), told.end(), knob.told_by) == told.end())
            continue;
        Dial dial{&knob, {}, std::log(knob.low), std::log(knob.high)};
        for (const std::string_view pointer : knob.pointers)
            if (!pointer.empty())
                collect(json, pointer, "", dial.parameters);
        for (const Turned& parameter : dial.parameters)
            if (parameter.most > 0)
                dial.high = std::min(dial.high, std::log(parameter.most / parameter.shipped));
        if (!dial.parameters.empty())
            dials.push_back(std::move(dial));
    }
    return dials;
}

std::vector<Override> turned_to(std::span<const Dial> dials, std::span<const double> logarithms) {
    std::vector<Override> out;
    for (std::size_t i = 0; i < dials.size(); ++i)
        if (logarithms[i] != 0)
            for (const Turned& parameter : dials[i].parameters)
                out.push_back({parameter.pointer, parameter.at(std::exp(logarithms[i]))});
    return out;
}

}  // namespace switchfold::validation
