// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/gpu_memory.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace switchfold {

namespace {

/// A GPU by the words of its name, all of which it has, and its data sheet's memory bandwidth.
struct KnownMemory {
    std::string_view model;
    std::string_view variant;  ///< empty: any
    double gigabytes_per_second;
    std::uint64_t at_least = 0;  ///< bytes of memory; tells variants of one name apart
};

constexpr std::uint64_t kGigabyte = 1'000'000'000;

/// Variants stand before the model that they are one of. Sources: the vendors' data sheets.
constexpr std::array kKnownMemories{
    KnownMemory{"gb300", "", 8000},
    KnownMemory{"b300", "", 8000},
    KnownMemory{"gb200", "", 8000},
    KnownMemory{"b200", "", 8000},
    KnownMemory{"b100", "", 8000},
    KnownMemory{"gh200", "", 4900, 120 * kGigabyte},
    KnownMemory{"gh200", "", 4023},
    KnownMemory{"h200", "", 4800},
    KnownMemory{"h100", "nvl", 3938},
    KnownMemory{"h100", "pcie", 2039},
    KnownMemory{"h100", "", 3350},
    KnownMemory{"h800", "pcie", 2039},
    KnownMemory{"h800", "", 3350},
    KnownMemory{"h20", "3e", 4800},
    KnownMemory{"h20", "", 4000},
    KnownMemory{"a100", "pcie", 1935, 50 * kGigabyte},
    KnownMemory{"a100", "", 2039, 50 * kGigabyte},
    KnownMemory{"a100", "", 1555},
    KnownMemory{"a800", "pcie", 1935, 50 * kGigabyte},
    KnownMemory{"a800", "", 2039, 50 * kGigabyte},
    KnownMemory{"a800", "", 1555},
    KnownMemory{"a30", "", 933},
    KnownMemory{"a40", "", 696},
    KnownMemory{"a10g", "", 600},
    KnownMemory{"a10", "", 600},
    KnownMemory{"a16", "", 200},
    KnownMemory{"a2", "", 200},
    KnownMemory{"l40s", "", 864},
    KnownMemory{"l40", "", 864},
    KnownMemory{"l20", "", 864},
    KnownMemory{"l4", "", 300},
    KnownMemory{"v100s", "", 1134},
    KnownMemory{"v100", "", 897},
    KnownMemory{"t4", "", 320},
    KnownMemory{"p100", "12gb", 549},
    KnownMemory{"p100", "", 732},
    KnownMemory{"p40", "", 347},
    KnownMemory{"p4", "", 192},
    KnownMemory{"m60", "", 160},
    KnownMemory{"m40", "", 288},
    KnownMemory{"k80", "", 240},
    KnownMemory{"k40", "", 288},
    KnownMemory{"k40m", "", 288},
    KnownMemory{"k40c", "", 288},
    KnownMemory{"pro", "6000", 1792},
    KnownMemory{"6000", "ada", 960},
    KnownMemory{"5000", "ada", 576},
    KnownMemory{"4000", "ada", 360},
    KnownMemory{"2000", "ada", 224},
    KnownMemory{"4500", "ada", 432},
    KnownMemory{"a6000", "", 768},
    KnownMemory{"a5500", "", 768},
    KnownMemory{"a5000", "", 768},
    KnownMemory{"a4500", "", 640},
    KnownMemory{"a4000", "", 448},
    KnownMemory{"8000", "quadro", 672},
    KnownMemory{"6000", "quadro", 672},
    KnownMemory{"5090", "", 1792},
    KnownMemory{"5080", "", 960},
    KnownMemory{"5070", "ti", 896},
    KnownMemory{"5070", "", 672},
    KnownMemory{"5060", "", 448},
    KnownMemory{"4090", "", 1008},
    KnownMemory{"4080", "super", 736},
    KnownMemory{"4080", "", 717},
    KnownMemory{"4070", "ti", 504},
    KnownMemory{"4070", "", 504},
    KnownMemory{"4060", "", 272},
    KnownMemory{"3090", "ti", 1008},
    KnownMemory{"3090", "", 936},
    KnownMemory{"3080", "ti", 912},
    KnownMemory{"3080", "", 760},
    KnownMemory{"3070", "", 448},
    KnownMemory{"3060", "ti", 448},
    KnownMemory{"3060", "", 360},
    KnownMemory{"2080", "ti", 616},
    KnownMemory{"2080", "super", 496},
    KnownMemory{"2080", "", 448},
    KnownMemory{"2070", "", 448},
    KnownMemory{"2060", "", 336},
    KnownMemory{"1080", "ti", 484},
    KnownMemory{"1080", "", 320},
    KnownMemory{"1070", "", 256},
    KnownMemory{"titan", "rtx", 672},
    KnownMemory{"titan", "v", 653},
    KnownMemory{"titan", "xp", 548},
    KnownMemory{"titan", "pascal", 480},
    KnownMemory{"titan", "x", 336},
    KnownMemory{"mi355x", "", 8000},
    KnownMemory{"mi350x", "", 8000},
    KnownMemory{"mi325x", "", 6000},
    KnownMemory{"mi300x", "", 5300},
    KnownMemory{"mi300a", "", 5300},
    KnownMemory{"mi308x", "", 5300},
    KnownMemory{"radeon", "graphics", 8000, 280 * kGigabyte},  // ROCm's name for what it lacks
    KnownMemory{"radeon", "graphics", 6000, 250 * kGigabyte},
    KnownMemory{"radeon", "graphics", 5300, 190 * kGigabyte},
    KnownMemory{"mi250x", "", 1638},  // of one die, which is a device
    KnownMemory{"mi250", "", 1638},
    KnownMemory{"mi210", "", 1638},
    KnownMemory{"mi100", "", 1229},
    KnownMemory{"mi60", "", 1024},
    KnownMemory{"mi50", "", 1024},
    KnownMemory{"7900", "xtx", 960},
    KnownMemory{"gb10", "", 273},
    KnownMemory{"thor", "", 273},
    KnownMemory{"orin", "", 205}};

/// The words of a name, in lower case: "A100-SXM4-80GB" has three.
std::set<std::string> words_of(std::string_view name) {
    std::set<std::string> words;
    std::string word;
    for (const char c : lower(name) + " ") {
        const bool in_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (in_word) {
            word += c;
        } else if (!word.empty()) {
            words.insert(word);
            word.clear();
        }
    }
    return words;
}

}  // namespace

std::optional<double> peak_bandwidth(std::string_view gpu_name, std::uint64_t memory_bytes) {
    const std::set<std::string> words = words_of(gpu_name);
    const auto found =
        std::find_if(kKnownMemories.begin(), kKnownMemories.end(), [&](const KnownMemory& known) {
            return words.contains(std::string(known.model)) &&
                   (known.variant.empty() || words.contains(std::string(known.variant))) &&
                   memory_bytes >= known.at_least;
        });
    if (found == kKnownMemories.end())
        return std::nullopt;
    return found->gigabytes_per_second * 1e9;
}

}  // namespace switchfold
