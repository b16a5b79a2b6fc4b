// SPDX-License-Identifier: Apache-2.0
#include "training/network/table.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

enum TableColumn : std::size_t {
    kName,
    kType,
    kParameters,
    kMacs,
    kOutElements,
    kInputs,
    kInElements,
    kShape,
    kShares,
    kSplit,
    kBlock,
    kGroups,
    kHeads,
    kForward,
    kBackward,
    kIndex,
};
constexpr std::size_t kRequired = 5;
constexpr std::array<std::string_view, 16> kColumns{
    "layer",
    "type",
    "params",
    "fwd_macs_per_sample",
    "out_elems_per_sample",
    "inputs",
    "in_elems_per_sample",
    "out_shape",
    "shares",
    "split",
    "block",
    "groups",
    "heads",
    "forward_us",
    "backward_us",
    "idx"};
/// Limit on a number, so that no sum over a network overflows.
constexpr std::uint64_t kMostElements = 1'000'000'000'000'000;
constexpr std::size_t kMostLayers = 16'384;

class TableReader {
public:
    TableReader(std::string_view text, const std::string& label) : label_(label), reader_(text) {
        network_.name = std::filesystem::path(label).stem().string();
    }

    Network run() {
        read_header();
        while (reader_.next(cells_) && read_line()) {
        }
        if (network_.layers.empty() && problems_.empty())
            problems_.push_back(
                {label_, "", "has no layer; expected at least one line below the header"});
        throw_problems();
        network_.tokens = tokens();
        return std::move(network_);
    }

private:
    void fail(std::string message) {
        problems_.push_back({label_, "", fmt::format("line {}: {}", line_, message)});
    }
    void throw_problems() {
        if (!problems_.empty())
            throw ConfigError(std::exchange(problems_, {}));
    }

    void read_header() {
        line_ = 1;
        reader_.next(header_);
        for (std::size_t c = 0; c < header_.size(); ++c) {
            const auto* const found = std::find(kColumns.begin(), kColumns.end(), header_[c]);
            if (found == kColumns.end()) {
                fail(fmt::format(
                    "unknown column \"{}\"{}; expected: {}", header_[c],
                    did_you_mean(header_[c], kColumns), fmt::join(kColumns, ", ")));
            } else if (!at_.emplace(static_cast<TableColumn>(found - kColumns.begin()), c).second) {
                fail(fmt::format("has two columns \"{}\"; expected one", header_[c]));
            }
        }
        for (std::size_t c = 0; c < kRequired; ++c)
            if (!at_.contains(static_cast<TableColumn>(c)))
                fail(fmt::format("has no column \"{}\"", kColumns[c]));
        throw_problems();
    }

    /// \returns false after the last layer that a network may have.
    bool read_line() {
        line_ = reader_.line();
        if (network_.layers.size() == kMostLayers) {
            fail(fmt::format("is one layer too many; expected at most {}", kMostLayers));
            return false;
        }
        if (cells_.size() != header_.size()) {
            fail(fmt::format("has {} cells; expected {}", cells_.size(), header_.size()));
            return true;
        }
        const std::size_t before = problems_.size();
        Layer layer;
        layer.name = cell(kName);
        layer.type = cell(kType);
        layer.parameters = count(kParameters);
        layer.macs = count(kMacs);
        layer.out_elements = count(kOutElements);
        layer.out_shape = shape();
        if (!cell(kShares).empty())
            layer.shares = find(cell(kShares), kShares);
        layer.split = split();
        if (!cell(kBlock).empty())
            layer.block = static_cast<std::uint32_t>(count(kBlock, kNoBlock - 1));
        if (!cell(kGroups).empty())
            layer.groups = static_cast<std::uint32_t>(count(kGroups, kMostLayers));
        if (!cell(kHeads).empty())
            layer.heads = static_cast<std::uint32_t>(count(kHeads, kMostLayers));
        layer.forward_us = time(kForward);
        layer.backward_us = time(kBackward);
        read_inputs(layer);
        add(std::move(layer), before);
        return true;
    }

    void read_inputs(Layer& layer) {
        std::uint64_t outside = 0;
        if (!at_.contains(kInputs)) {
            if (network_.layers.empty())
                outside = layer.out_elements;
            else
                layer.inputs.push_back(static_cast<std::uint32_t>(network_.layers.size() - 1));
        } else if (!cell(kInputs).empty()) {
            for (const std::string& name : split_text(cell(kInputs), ';')) {
                if (name.starts_with('@'))
                    outside = layer.out_elements;
                else if (const auto producer = find(name, kInputs))
                    layer.inputs.push_back(*producer);
            }
        }
        if (!cell(kInElements).empty()) {
            layer.in_elements = count(kInElements);
            return;
        }
        layer.in_elements = outside;
        for (const std::uint32_t input : layer.inputs)
            layer.in_elements += network_.layers[input].out_elements;
    }

    /// Keeps a layer with problems, because later ones may refer to it.
    void add(Layer layer, std::size_t problems_before) {
        const auto index = static_cast<std::uint32_t>(network_.layers.size());
        if (layer.name.empty())
            fail("has no name; expected one");
        else if (!indices_.emplace(layer.name, index).second)
            fail(fmt::format("{} exists already; expected one layer a name", layer.name));
        network_.layers.push_back(std::move(layer));
        if (problems_.size() == problems_before)
            for (std::string& problem : problems_of(network_, index))
                fail(std::move(problem));
    }

    [[nodiscard]] const std::string& cell(TableColumn column) const {
        static const std::string kNone;
        const auto found = at_.find(column);
        return found == at_.end() ? kNone : cells_[found->second];
    }

    std::uint64_t count(TableColumn column, std::uint64_t most = kMostElements) {
        const auto value = parse_count(cell(column));
        if (!value || *value > most) {
            fail(fmt::format(
                "{} is \"{}\"; expected a whole number up to {}", kColumns[column], cell(column),
                most));
            return 0;
        }
        return *value;
    }

    std::optional<double> time(TableColumn column) {
        if (cell(column).empty())
            return std::nullopt;
        constexpr double kLongest = 1e12;
        const auto value = parse_decimal(cell(column));
        if (!value || *value < 0 || *value > kLongest) {
            fail(fmt::format(
                "{} is \"{}\"; expected microseconds a sample", kColumns[column], cell(column)));
            return std::nullopt;
        }
        return value;
    }

    std::vector<std::uint64_t> shape() {
        std::vector<std::uint64_t> sides;
        if (cell(kShape).empty())
            return sides;
        constexpr std::size_t kMostSides = 3;
        std::uint64_t elements = 1;
        for (const std::string& side : split_text(cell(kShape), 'x')) {
            sides.push_back(parse_count(side).value_or(0));
            const std::uint64_t most = kMostElements / elements;
            elements = sides.back() > most ? kMostElements + 1 : elements * sides.back();
            if (elements == 0 || elements > kMostElements || sides.size() > kMostSides) {
                fail(fmt::format(
                    "out_shape is \"{}\"; expected CHANNELSxHEIGHTxWIDTH, TOKENSxWIDTH or WIDTH",
                    cell(kShape)));
                return {};
            }
        }
        return sides;
    }

    TensorSplit split() {
        if (cell(kSplit).empty())
            return TensorSplit::kNone;
        std::vector<std::string_view> words;
        for (const auto& [value, word] : EnumNames<TensorSplit>::kNames) {
            if (cell(kSplit) == word)
                return value;
            words.push_back(word);
        }
        fail(fmt::format(
            "split is \"{}\"; expected one of: {}", cell(kSplit), fmt::join(words, ", ")));
        return TensorSplit::kNone;
    }

    std::optional<std::uint32_t> find(const std::string& name, TableColumn column) {
        const auto found = indices_.find(name);
        if (found != indices_.end())
            return found->second;
        std::vector<std::string_view> known;
        for (const Layer& layer : network_.layers)
            known.push_back(layer.name);
        fail(fmt::format(
            "{} names \"{}\"{}; expected a layer that comes before", kColumns[column], name,
            did_you_mean(name, known)));
        return std::nullopt;
    }

    /// Tokens per sample; a network works on sequences if it is recurrent or has attention.
    [[nodiscard]] std::uint64_t tokens() const {
        for (const Layer& layer : network_.layers)
            if ((layer.type == "lstm" || layer.type == "attention") && layer.out_shape.size() == 2)
                return layer.out_shape.front();
        return 0;
    }

    const std::string& label_;
    CsvReader reader_;
    std::vector<std::string> header_;
    std::vector<std::string> cells_;
    std::map<TableColumn, std::size_t> at_;
    std::map<std::string, std::uint32_t> indices_;
    std::vector<Problem> problems_;
    Network network_;
    std::size_t line_ = 0;
};

}  // namespace

Network parse_network_table(std::string_view text, const std::string& label) {
    return TableReader(text, label).run();
}

Network read_network_table(const std::filesystem::path& path) {
    return parse_network_table(read_text(path), path.string());
}

}  // namespace switchfold
