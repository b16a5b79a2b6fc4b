// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/axis.h"

#include "core/named_path.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

/// Whether `name` matches `pattern`, in which * stands for any characters.
bool matches(std::string_view name, std::string_view pattern) {
    if (pattern.empty())
        return name.empty();
    if (pattern.front() != '*')
        return !name.empty() && name.front() == pattern.front() &&
               matches(name.substr(1), pattern.substr(1));
    for (std::size_t skip = 0; skip <= name.size(); ++skip)
        if (matches(name.substr(skip), pattern.substr(1)))
            return true;
    return false;
}

/// Paths as the experiment's file would name them, independent of the repository's location.
std::vector<Json> expand_files(const std::string& pattern, const SweepFiles& files) {
    const fs::path written = pattern;
    const fs::path full = path_named_in(files.sweep, written);
    std::vector<std::string> found;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(full.parent_path().empty() ? "." : full.parent_path(), error))
        if (entry.is_regular_file() &&
            matches(entry.path().filename().string(), full.filename().string()))
            found.push_back(
                written.is_absolute()
                    ? entry.path().string()
                    : fs::absolute(entry.path())
                          .lexically_normal()
                          .lexically_relative(
                              fs::absolute(files.experiment).lexically_normal().parent_path())
                          .string());
    if (found.empty())
        throw std::invalid_argument(fmt::format(
            "is \"{}\", which no file matches; expected the paths of existing files", pattern));
    std::sort(found.begin(), found.end());
    return {found.begin(), found.end()};
}

std::vector<Json> expand(const ValuesParams& params, const SweepFiles& files) {
    if (!params.range.empty())
        return expand_range(params.range, kMostAxisValues);
    if (!params.files.empty())
        return expand_files(params.files, files);
    std::vector<Json> values;
    for (const AnyValue& value : params.values)
        values.push_back(value.json);
    return values;
}

std::string label_of(const Json& value, std::size_t index) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        for (const std::string_view end : {".json.gz", ".json", ".xml"})
            if (text.ends_with(end))
                return fs::path(text.substr(0, text.size() - end.size())).filename().string();
        return text;
    }
    return value.is_structured() ? fmt::format("#{}", index + 1) : value.dump();
}

/// The operator at the start of a filter's text; empty if none.
std::string_view operator_of(std::string_view text) {
    for (const std::string_view sign : {"<=", ">=", "<", ">"})
        if (text.starts_with(sign))
            return sign;
    return {};
}

bool compare(double value, std::string_view sign, double bound) {
    if (sign == "<")
        return value < bound;
    if (sign == "<=")
        return value <= bound;
    return sign == ">" ? value > bound : value >= bound;
}

[[noreturn]] void fail_label(const Axis& axis, const std::string& word) {
    std::vector<std::string_view> known;
    for (const AxisValue& value : axis.values)
        known.push_back(value.label);
    constexpr std::size_t kShown = 12;
    throw std::invalid_argument(fmt::format(
        "\"{}\" is not a value of {}{}; expected one of: {}{}", word, axis.name,
        did_you_mean(word, known),
        fmt::join(known.begin(), known.begin() + std::min(kShown, known.size()), ", "),
        known.size() > kShown ? ", ..." : ""));
}

}  // namespace

std::optional<MeasureKind> Axis::kind() const {
    std::optional<MeasureKind> kind;
    for (const AxisValue& value : values) {
        if (!value.measure || (kind && *kind != value.measure->kind))
            return std::nullopt;
        kind = value.measure->kind;
    }
    return kind;
}

Axis expand_axis(
    const AxisParams& params, const SweepFiles& files, const std::string& pointer,
    std::vector<Problem>& problems) {
    Axis axis;
    axis.name = params.name;
    const auto fail = [&](const std::string& where, const std::string& what) {
        problems.push_back({files.sweep.string(), pointer + where, what});
    };
    const auto add = [&](const ValuesParams& values, const std::string& where) {
        axis.pointers.push_back(values.pointer);
        try {
            const std::vector<Json> column = expand(values, files);
            if (axis.pointers.size() == 1)
                axis.values.resize(column.size());
            if (column.size() != axis.values.size()) {
                fail(
                    where, fmt::format(
                               "has {} values beside {}; expected as many", column.size(),
                               axis.values.size()));
                return;
            }
            for (std::size_t i = 0; i < column.size(); ++i)
                axis.values[i].values.push_back(column[i]);
        } catch (const std::invalid_argument& error) {
            fail(where + (values.range.empty() ? "/files" : "/range"), error.what());
        }
    };
    const std::size_t before = problems.size();
    add(params.own(), "");
    for (std::size_t i = 0; i < params.zip.size() && problems.size() == before; ++i)
        add(params.zip[i], fmt::format("/zip/{}", i));
    if (problems.size() != before)
        return axis;
    if (!params.labels.empty() && params.labels.size() != axis.values.size())
        fail(
            "/labels", fmt::format(
                           "has {} labels for {} values; expected one for each",
                           params.labels.size(), axis.values.size()));
    std::set<std::string> labels;
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
        AxisValue& value = axis.values[i];
        value.measure = measure_of(value.values.front());
        value.label =
            i < params.labels.size() ? params.labels[i] : label_of(value.values.front(), i);
        if (!labels.insert(value.label).second)
            fail(
                i < params.labels.size() ? fmt::format("/labels/{}", i) : "",
                fmt::format("calls two values \"{}\"; expected each label once", value.label));
    }
    return axis;
}

bool fits(const Axis& axis, const AxisValue& value, const Json& wanted) {
    if (wanted.is_array())
        return std::any_of(
            wanted.begin(), wanted.end(), [&](const Json& one) { return fits(axis, value, one); });
    const std::string word = wanted.is_string() ? wanted.get<std::string>() : wanted.dump();
    if (const std::string_view sign = operator_of(word); !sign.empty()) {
        std::string_view text = std::string_view(word).substr(sign.size());
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        const auto bound = parse_measure(text);
        if (!bound || axis.kind() != bound->kind)
            throw std::invalid_argument(fmt::format(
                "\"{}\" cannot be compared with values of {}; expected a number of their unit",
                word, axis.name));
        return compare(value.measure->number, sign, bound->number);
    }
    if (std::none_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& known) {
            return known.label == word;
        }))
        fail_label(axis, word);
    return value.label == word;
}

}  // namespace switchfold
