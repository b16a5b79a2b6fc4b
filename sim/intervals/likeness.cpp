// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/likeness.h"

#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace switchfold::intervals {

namespace {

struct Generation {
    std::string_view name;
    bool nvidia;
    int order;  ///< of its maker
};

constexpr std::array kGenerations{Generation{"Kepler", true, 0},    Generation{"Maxwell", true, 1},
                                  Generation{"Pascal", true, 2},    Generation{"Volta", true, 3},
                                  Generation{"Turing", true, 4},    Generation{"Ampere", true, 5},
                                  Generation{"Ada", true, 6},       Generation{"Hopper", true, 7},
                                  Generation{"Blackwell", true, 8}, Generation{"CDNA 2", false, 0},
                                  Generation{"CDNA 3", false, 1},   Generation{"CDNA 4", false, 2}};

/// Parts of GPUs' names. The first that fits counts: "A10" is part of "A100", "L4" of "L40", and
/// "A6000" is of Ampere unless "Ada" stands beside it.
struct NamePart {
    std::string_view part;
    std::string_view generation;
};
constexpr std::array kNameParts{NamePart{"ada", "Ada"},         NamePart{"blackwell", "Blackwell"},
                                NamePart{"h100", "Hopper"},     NamePart{"h200", "Hopper"},
                                NamePart{"h800", "Hopper"},     NamePart{"h20", "Hopper"},
                                NamePart{"b200", "Blackwell"},  NamePart{"b300", "Blackwell"},
                                NamePart{"b100", "Blackwell"},  NamePart{"rtx 50", "Blackwell"},
                                NamePart{"rtx 40", "Ada"},      NamePart{"rtx 30", "Ampere"},
                                NamePart{"rtx 20", "Turing"},   NamePart{"gtx 10", "Pascal"},
                                NamePart{"titan x", "Maxwell"}, NamePart{"a100", "Ampere"},
                                NamePart{"a800", "Ampere"},     NamePart{"a6000", "Ampere"},
                                NamePart{"a40", "Ampere"},      NamePart{"a30", "Ampere"},
                                NamePart{"a10", "Ampere"},      NamePart{"l40", "Ada"},
                                NamePart{"l4", "Ada"},          NamePart{"l20", "Ada"},
                                NamePart{"v100", "Volta"},      NamePart{"t4", "Turing"},
                                NamePart{"p100", "Pascal"},     NamePart{"p40", "Pascal"},
                                NamePart{"k40", "Kepler"},      NamePart{"k80", "Kepler"},
                                NamePart{"mi2", "CDNA 2"},      NamePart{"mi30", "CDNA 3"},
                                NamePart{"mi325", "CDNA 3"},    NamePart{"mi35", "CDNA 4"}};

const Generation* known(std::string_view name) {
    const auto* const at =
        std::find_if(kGenerations.begin(), kGenerations.end(), [&](const Generation& g) {
            return g.name == name;
        });
    return at == kGenerations.end() ? nullptr : at;
}

constexpr double kOneStep = 0.5;
constexpr double kOtherMaker = 2;
constexpr double kMostOfNumber = 2;
constexpr double kFabric = 2;
constexpr double kCrossing = 2;

double of_words(std::string_view a, std::string_view b) {
    if (a == b)
        return 0;
    return a.empty() || b.empty() ? 0.5 : 1;
}

double of_generations(std::string_view a, std::string_view b) {
    const Generation* const x = known(a);
    const Generation* const y = known(b);
    if (x == nullptr || y == nullptr)
        return of_words(a, b);
    return x->nvidia != y->nvidia ? kOtherMaker : kOneStep * std::abs(x->order - y->order);
}

double of_numbers(double a, double b) {
    if (a <= 0 || b <= 0)
        return a == b ? 0 : 1;
    return std::min(kMostOfNumber, std::abs(std::log(a / b)) / std::log(16.0));
}

std::string size_text(double bytes) {
    constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < kUnits.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace

std::string_view generation_of(std::string_view gpu) {
    const std::string name = lower(gpu);
    for (const NamePart& known_part : kNameParts)
        if (contains(name, known_part.part))
            return known_part.generation;
    return "";
}

double distance(const Likeness& a, const Likeness& b) {
    if (a.kind != b.kind)
        return std::numeric_limits<double>::infinity();
    return of_words(a.operation, b.operation) + of_words(a.algorithm, b.algorithm) +
           kFabric * of_words(a.fabric, b.fabric) + of_generations(a.generation, b.generation) +
           of_numbers(a.bytes, b.bytes) + of_numbers(a.us, b.us) + of_numbers(a.ranks, b.ranks) +
           of_numbers(a.machines, b.machines) +
           ((a.machines > 1) != (b.machines > 1) ? kCrossing : 0);
}

std::string to_text(const Likeness& likeness) {
    std::string text = likeness.operation.empty() ? likeness.kind : likeness.operation;
    if (!likeness.algorithm.empty())
        text += " by " + likeness.algorithm;
    if (likeness.bytes > 0)
        text += ", " + size_text(likeness.bytes);
    if (likeness.us > 0)
        text += fmt::format(", {:.3g} us", likeness.us);
    text += fmt::format(
        ", {} {}{}", likeness.ranks, likeness.ranks == 1 ? "rank" : "ranks",
        likeness.generation.empty() ? "" : " of " + likeness.generation);
    if (likeness.machines > 1)
        text += fmt::format(" on {} machines", likeness.machines);
    return text;
}

}  // namespace switchfold::intervals
