// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/schedule_file.h"

#include "core/error.h"
#include "core/json.h"
#include "training/plan/schedule/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMost = 1U << 20U;  // devices, stages or micro-batches

class ScheduleReader {
public:
    explicit ScheduleReader(std::string file) : file_(std::move(file)) {}

    PipelineSchedule run(const Json& json) {
        if (!json.is_object()) {
            problem("", "is not a JSON object; expected micro_batches, routes and order");
            throw ConfigError(std::move(problems_));
        }
        known_keys(json);
        PipelineSchedule schedule;
        schedule.name = file_;
        schedule.micro_batches = number(json, "micro_batches");
        routes(json, schedule);
        if (const auto flag = json.find("asynchronous"); flag != json.end()) {
            if (flag->is_boolean())
                schedule.asynchronous = flag->get<bool>();
            else
                problem("/asynchronous", "is neither true nor false");
        }
        order(json, schedule);
        if (problems_.empty())
            for (const std::string& what : problems_of(schedule))
                problem("", what);
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        return schedule;
    }

private:
    void problem(const std::string& pointer, const std::string& what) {
        constexpr std::size_t kShown = 20;
        if (problems_.size() < kShown)
            problems_.push_back({file_, pointer, what});
    }

    void known_keys(const Json& json) {
        constexpr std::array<std::string_view, 6> kKeys{"$schema",  "micro_batches", "routes",
                                                        "route_of", "asynchronous",  "order"};
        for (const auto& [key, value] : json.items()) {
            if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end())
                continue;
            const std::string near = nearest(key, kKeys);
            problem(
                "/" + key, fmt::format(
                               "is not a key of a schedule; expected one of {}{}",
                               fmt::join(kKeys.begin() + 1, kKeys.end(), ", "),
                               near.empty() ? "" : fmt::format("; did you mean {}?", near)));
        }
    }

    std::uint32_t number(const Json& json, const std::string& key) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_number_unsigned()) {
            const auto value = found->get<std::uint64_t>();
            if (value > 0 && value <= kMost)
                return static_cast<std::uint32_t>(value);
        }
        problem("/" + key, fmt::format("expected a number from 1 to {}", kMost));
        return 1;
    }

    std::vector<std::uint32_t> numbers(const Json& json, const std::string& pointer) {
        std::vector<std::uint32_t> found;
        if (!json.is_array()) {
            problem(pointer, "is not an array of numbers");
            return found;
        }
        for (const Json& item : json) {
            if (item.is_number_unsigned() && item.get<std::uint64_t>() < kMost) {
                found.push_back(item.get<std::uint32_t>());
            } else {
                problem(pointer, fmt::format("holds {}; expected numbers from 0", item.dump()));
                break;
            }
        }
        return found;
    }

    void routes(const Json& json, PipelineSchedule& schedule) {
        const auto found = json.find("routes");
        if (found == json.end() || !found->is_array() || found->empty()) {
            problem("/routes", "expected an array with the device of each stage, for each route");
            return;
        }
        for (std::size_t i = 0; i < found->size(); ++i)
            schedule.routes.push_back(numbers((*found)[i], fmt::format("/routes/{}", i)));
        if (const auto of = json.find("route_of"); of != json.end())
            schedule.route_of = numbers(*of, "/route_of");
    }

    void order(const Json& json, PipelineSchedule& schedule) {
        const auto found = json.find("order");
        if (found == json.end() || !found->is_array() || found->empty()) {
            problem("/order", "expected an array of passes for each device");
            return;
        }
        schedule.order.resize(found->size());
        for (std::uint32_t device = 0; device < found->size(); ++device) {
            const Json& passes = (*found)[device];
            const std::string pointer = fmt::format("/order/{}", device);
            if (!passes.is_array()) {
                problem(pointer, "is not an array of passes");
                continue;
            }
            const std::optional<std::uint32_t> only = only_stage(schedule, device);
            for (std::size_t k = 0; k < passes.size(); ++k) {
                const auto slot = passes[k].is_string()
                                      ? slot_of(passes[k].get<std::string>(), only)
                                      : std::nullopt;
                if (slot)
                    schedule.order[device].push_back(*slot);
                else
                    problem(
                        fmt::format("{}/{}", pointer, k),
                        fmt::format(
                            "is {}; expected a pass as F3@5, BW3@5, B3@5, W3@5, U3@5 (the stage "
                            "may "
                            "be left out where the device holds one), or a forward and a backward "
                            "as F3@5&BW1@5",
                            passes[k].dump()));
            }
        }
    }

    static std::optional<std::uint32_t>
    only_stage(const PipelineSchedule& schedule, std::uint32_t device) {
        const std::set<std::uint32_t> held = schedule.stages_on(device);
        return held.size() == 1 ? std::optional(*held.begin()) : std::nullopt;
    }

    static std::optional<Slot> slot_of(const std::string& text, std::optional<std::uint32_t> only) {
        const std::size_t both = text.find('&');
        const auto first = pass_of(std::string_view(text).substr(0, both), only);
        if (!first)
            return {};
        Slot slot{*first, {}};
        if (both != std::string::npos) {
            slot.beside = pass_of(std::string_view(text).substr(both + 1), only);
            if (!slot.beside)
                return {};
        }
        return slot;
    }

    static std::optional<Pass> pass_of(std::string_view text, std::optional<std::uint32_t> only) {
        const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
        std::optional<Pass> pass;
        for (const PassKind kind :
             {PassKind::kForward, PassKind::kBackward, PassKind::kInputGradient,
              PassKind::kWeightGradient, PassKind::kUpdate})
            if (text.substr(0, letters) == to_string(kind))
                pass = Pass{kind, 0, only.value_or(0)};
        if (!pass)
            return {};
        const std::string_view numbers = text.substr(letters);
        const std::size_t at = numbers.find('@');
        if (!read(numbers.substr(0, at), pass->micro_batch))
            return {};
        if (at == std::string_view::npos)
            return only ? pass : std::nullopt;
        return read(numbers.substr(at + 1), pass->stage) ? pass : std::nullopt;
    }

    static bool read(std::string_view text, std::uint32_t& out) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
        return error == std::errc() && end == text.data() + text.size() && !text.empty();
    }

    std::string file_;
    std::vector<Problem> problems_;
};

}  // namespace

PipelineSchedule parse_schedule(std::string_view text, const std::string& file) {
    return ScheduleReader(file).run(parse_json(text, file));
}

PipelineSchedule read_schedule(const std::filesystem::path& path) {
    return ScheduleReader(path.string()).run(load_json(path));
}

}  // namespace switchfold
