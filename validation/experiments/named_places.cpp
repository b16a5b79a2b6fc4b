// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/named_places.h"

#include "core/error.h"
#include "core/named_path.h"
#include "core/text_cells.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::array<std::string_view, 2> kOfRepository{"configs/", "validation/data/"};

bool is_a_file(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

NamedPlaces::NamedPlaces(std::filesystem::path root, std::map<std::string, std::string> places) :
    root_(std::filesystem::absolute(root)), places_(std::move(places)) {}

std::string NamedPlaces::placed_text(const std::string& text) const {
    std::string out = text;
    for (const auto& [beginning, folder] : places_)
        if (out.starts_with(beginning)) {
            out = folder + out.substr(beginning.size());
            break;
        }
    const bool of_repository = std::ranges::any_of(
        kOfRepository, [&](std::string_view folder) { return out.starts_with(folder); });
    return of_repository ? (root_ / out).string() : out;
}

Json NamedPlaces::placed(const Json& value) const {
    if (value.is_string())
        return placed_text(value.get<std::string>());
    Json out = value;
    if (value.is_structured())
        for (Json& part : out)
            part = placed(part);
    return out;
}

std::filesystem::path
NamedPlaces::file(const std::string& text, const std::filesystem::path& from) const {
    return path_named_in(std::filesystem::absolute(from), placed_text(text));
}

std::string NamedPlaces::system(const std::string& text, const std::filesystem::path& from) const {
    if (const auto path = file(text, from); is_a_file(path))
        return path.string();
    const std::filesystem::path folder = root_ / "configs/systems";
    if (const auto path = folder / (text + ".json"); is_a_file(path))
        return path.string();
    std::vector<std::string> names;
    for (const auto& known : files_in(folder, ".json"))
        names.push_back(known.stem().string());
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw ConfigError(
        from.string(), "/system",
        fmt::format(
            "/system is \"{}\", which is neither a file nor a system of configs/systems{}; "
            "expected "
            "one of the two",
            text, did_you_mean(text, views)));
}

}  // namespace switchfold::validation
