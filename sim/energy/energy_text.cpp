// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/energy_text.h"

#include "core/params_reader.h"
#include "sim/output/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// Three significant digits.
std::string amount(double value) {
    if (value == 0)
        return "0";
    int decimals = 2;
    for (double limit = 10; decimals > 0 && value >= limit; limit *= 10)
        --decimals;
    for (double limit = 1; decimals < 9 && value < limit; limit /= 10)
        ++decimals;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string interval(const Joules& joules, std::string_view unit) {
    return fmt::format(
        "{} {} ({} to {})", amount(joules.value), unit, amount(joules.low), amount(joules.high));
}

OrderedJson estimate_json(const Joules& joules) {
    return {{"value", joules.value}, {"low", joules.low}, {"high", joules.high}};
}

bool used(const std::vector<StepEnergy>& scenarios, EnergyPart part) {
    for (const StepEnergy& step : scenarios)
        if (step.part(part).high > 0)
            return true;
    return false;
}

/// What the units take, in a line of its own: empty where nothing reduces.
std::string unit_line(const std::vector<StepEnergy>& scenarios) {
    std::string out;
    for (const StepEnergy& step : scenarios)
        if (step.units.high > 0)
            out += fmt::format(
                "{} {}: {} to {} mJ a step", out.empty() ? "" : ";", step.scenario,
                amount(step.units.low * 1e3), amount(step.units.high * 1e3));
    const auto largest = std::max_element(
        scenarios.begin(), scenarios.end(), [](const StepEnergy& a, const StepEnergy& b) {
            return a.units_mm2.high < b.units_mm2.high;
        });
    if (out.empty())
        return out;
    return fmt::format(
        "Reduction units, at 7 nm (docs/in_switch.md#area-and-energy): {} to {} mm2 in all;{}. In "
        "no "
        "sum\nabove.\n",
        amount(largest->units_mm2.low), amount(largest->units_mm2.high), out);
}

OrderedJson ends_json(const Joules& range) {
    return {{"low", range.low}, {"high", range.high}};
}

}  // namespace

PowerParams load_power(const std::string& file) {
    return read_params<PowerParams>(load_json(file), file);
}

std::string energy_table(const RunEnergy& energy) {
    std::vector<std::vector<std::string>> rows{{"scenario", "a GPU", "a step"}};
    for (const EnergyPartText& text : kEnergyPartTexts)
        if (used(energy.scenarios, text.part))
            rows.front().emplace_back(text.title);
    for (const StepEnergy& step : energy.scenarios) {
        auto& row = rows.emplace_back();
        row = {step.scenario, interval(step.gpu_watts(), "W"), interval(step.sum(), "J")};
        for (const EnergyPartText& text : kEnergyPartTexts)
            if (used(energy.scenarios, text.part))
                row.push_back(amount(step.part(text.part).value) + " J");
    }
    return fmt::format(
        "{}\n"
        "power numbers: {}\n"
        "\n"
        "{}\n"
        "a GPU: mean power with its memory; a step: energy of all GPUs and links, and its parts.\n"
        "Estimated from the run, not measured; brackets hold the range that the\n"
        "numbers leave open. Hosts, fans and idle switches are not in it.\n"
        "{}",
        energy.experiment, energy.power, align_columns(rows), unit_line(energy.scenarios));
}

OrderedJson energy_json(const RunEnergy& energy) {
    OrderedJson scenarios = OrderedJson::array();
    for (const StepEnergy& step : energy.scenarios) {
        OrderedJson parts = OrderedJson::object();
        for (const EnergyPartText& text : kEnergyPartTexts)
            parts[std::string(text.key)] = estimate_json(step.part(text.part));
        scenarios.push_back(
            {{"name", step.scenario},
             {"step_us", step.seconds * 1e6},
             {"gpus", step.gpus},
             {"gpu_watts", estimate_json(step.gpu_watts())},
             {"step_joules", estimate_json(step.sum())},
             {"parts_joules", std::move(parts)}});
        if (step.units_mm2.high > 0) {
            scenarios.back()["reduction_units_mm2"] = ends_json(step.units_mm2);
            scenarios.back()["reduction_units_joules"] = ends_json(step.units);
        }
    }
    return {
        {"schema", "switchfold-energy-1"},
        {"experiment", energy.experiment},
        {"power", energy.power},
        {"scenarios", std::move(scenarios)}};
}

}  // namespace switchfold
