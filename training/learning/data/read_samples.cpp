// SPDX-License-Identifier: Apache-2.0
// Samples that files hold.
#include "core/csv_reader.h"
#include "core/error.h"
#include "core/random_stream.h"
#include "core/text_cells.h"
#include "training/learning/data/finite_samples.h"
#include "training/learning/data/row_scale.h"
#include "workloads/readers/input/input_file.h"
#include "workloads/readers/input/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace switchfold::learning {

namespace {

constexpr std::uint64_t kMostSampleBytes = 1ULL << 30U;

using Row = std::vector<double>;

Row parse_row(
    const std::vector<std::string>& cells, const std::string& file, std::uint64_t number) {
    Row row;
    for (const std::string& cell : cells) {
        const std::optional<double> value = parse_decimal(cell);
        if (!value)
            throw ConfigError(
                file, fmt::format("line {}", number),
                fmt::format("\"{}\" is not a finite number", cell));
        row.push_back(*value);
    }
    return row;
}

std::vector<Row> read_rows(const std::filesystem::path& file) {
    LineReader lines(file, kMostSampleBytes);
    CsvReader reader([&](std::string& line) { return lines.next(line); });
    std::vector<std::string> cells;
    std::vector<Row> rows;
    const std::size_t columns = reader.next(cells) ? cells.size() : 0;
    if (columns == 1)
        throw ConfigError(file.string(), "line 1", "has one column; expected inputs and a target");
    while (reader.next(cells)) {
        rows.push_back(parse_row(cells, file.string(), reader.line()));
        if (rows.back().size() != columns)
            throw ConfigError(
                file.string(), fmt::format("line {}", reader.line()),
                fmt::format("has {} columns; the header has {}", rows.back().size(), columns));
    }
    return rows;
}

/// One-hot rows: classes by sample.
Matrix shares_of(const std::vector<std::uint32_t>& classes, Index count) {
    Matrix shares = Matrix::Zero(count, static_cast<Index>(classes.size()));
    for (std::size_t j = 0; j < classes.size(); ++j)
        shares(classes[j], static_cast<Index>(j)) = 1;
    return shares;
}

/// Scales each row to mean 0 and variance 1; a constant row to zeros.
void normalise(Matrix& rows) {
    for (Index i = 0; i < rows.rows(); ++i) {
        const auto [mean, deviation] = scale_of_row(rows, i);
        for (Index j = 0; j < rows.cols(); ++j)
            rows(i, j) = deviation > 0 ? (rows(i, j) - mean) / deviation : 0;
    }
}

Batch columns_of(const Batch& all, const std::vector<std::uint32_t>& places) {
    const auto count = static_cast<Index>(places.size());
    Batch some{Matrix(all.inputs.rows(), count), Matrix(all.targets.rows(), count)};
    for (Index j = 0; j < count; ++j) {
        const Index from = places[static_cast<std::size_t>(j)];
        some.inputs.col(j) = all.inputs.col(from);
        some.targets.col(j) = all.targets.col(from);
    }
    return some;
}

/// Holds out a part drawn from the seed.
std::unique_ptr<Samples> parted(
    const Batch& all, const DataSpec& spec, LossKind loss, const std::string& file,
    std::uint64_t seed) {
    const auto count = static_cast<std::uint32_t>(all.inputs.cols());
    if (count <= spec.held_out)
        throw ConfigError(
            file, "",
            fmt::format(
                "has {} samples, of which {} are held out; expected more", count, spec.held_out));
    std::vector<std::uint32_t> places(count);
    std::iota(places.begin(), places.end(), 0U);
    RandomStream random(seed, "held out");
    for (std::uint32_t i = count; i > 1; --i)
        std::swap(places[i - 1], places[random.below(i)]);
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(spec.held_out);
    const std::size_t most = std::min<std::size_t>(count - spec.held_out, spec.samples);
    return std::make_unique<FiniteSamples>(
        columns_of(all, {begin, begin + static_cast<std::ptrdiff_t>(most)}),
        columns_of(all, {places.begin(), begin}), loss, seed);
}

std::string read_bytes(const std::filesystem::path& path) {
    InputFile file(path, kMostSampleBytes);
    std::string bytes;
    std::vector<char> block(1U << 16U);
    while (const std::size_t size = file.read(block))
        bytes.append(block.data(), size);
    return bytes;
}

/// An array of bytes in MNIST's format: a magic number, its dimensions, the bytes.
struct ByteArray {
    std::vector<std::uint32_t> sizes;
    std::string bytes;
    [[nodiscard]] double at(std::size_t i) const { return static_cast<unsigned char>(bytes[i]); }
};
ByteArray read_array(const std::filesystem::path& path, std::size_t dimensions) {
    std::string bytes = read_bytes(path);
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i)
            value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
        return value;
    };
    constexpr std::uint32_t kBytes = 0x800;
    const std::size_t head = 4 * (1 + dimensions);
    if (bytes.size() < head || number(0) != kBytes + dimensions)
        throw ConfigError(
            path.string(), "byte 0",
            fmt::format("is not an array of bytes in MNIST's form with {} dimensions", dimensions));
    ByteArray array;
    std::uint64_t all = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
        array.sizes.push_back(number(4 * (d + 1)));
        all = std::min(all * array.sizes.back(), kMostSampleBytes);
    }
    array.bytes = bytes.substr(head);
    if (array.bytes.size() != all)
        throw ConfigError(
            path.string(), fmt::format("byte {}", bytes.size()),
            fmt::format("ends early; its header announces {} bytes", all));
    return array;
}

constexpr std::uint32_t kClasses = 10;

/// The first `most` images, with the mean of 2 x 2 pixels as a feature, and their classes.
Batch read_images(
    const std::filesystem::path& folder, const std::string& name, std::uint32_t most) {
    const ByteArray images = read_array(folder / (name + "-images-idx3-ubyte.gz"), 3);
    const std::filesystem::path labels_file = folder / (name + "-labels-idx1-ubyte.gz");
    const ByteArray labels = read_array(labels_file, 1);
    if (labels.sizes[0] != images.sizes[0])
        throw ConfigError(
            labels_file.string(), "",
            fmt::format("has {} labels for {} images", labels.sizes[0], images.sizes[0]));
    const std::uint32_t count = std::min(most, images.sizes[0]);
    const std::size_t height = images.sizes[1] / 2;
    const std::size_t width = images.sizes[2] / 2;
    Matrix inputs(static_cast<Index>(height * width), count);
    std::vector<std::uint32_t> classes;
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < width; ++x) {
                const std::size_t row = (j * images.sizes[1] + 2 * y) * images.sizes[2];
                const std::size_t below = row + images.sizes[2];
                constexpr double kWhite = 4 * 255;
                inputs(static_cast<Index>(y * width + x), static_cast<Index>(j)) =
                    (images.at(row + 2 * x) + images.at(row + 2 * x + 1) +
                     images.at(below + 2 * x) + images.at(below + 2 * x + 1)) /
                        kWhite -
                    0.5;
            }
        const auto label = static_cast<std::uint32_t>(labels.at(j));
        if (label >= kClasses)
            throw ConfigError(
                labels_file.string(), fmt::format("label {}", j),
                fmt::format("is {}; expected one below {}", label, kClasses));
        classes.push_back(label);
    }
    return {std::move(inputs), shares_of(classes, kClasses)};
}

}  // namespace

std::unique_ptr<Samples>
csv_samples(const DataSpec& spec, const std::filesystem::path& file, std::uint64_t seed) {
    const std::vector<Row> rows = read_rows(file);
    if (rows.empty())
        throw ConfigError(file.string(), "line 2", "is missing; expected samples");
    const auto features = static_cast<Index>(rows.front().size()) - 1;
    const auto count = static_cast<Index>(rows.size());
    Batch all{Matrix(features, count), Matrix(1, count)};
    std::vector<std::uint32_t> classes;
    for (Index j = 0; j < count; ++j) {
        const Row& row = rows[static_cast<std::size_t>(j)];
        for (Index i = 0; i < features; ++i)
            all.inputs(i, j) = row[static_cast<std::size_t>(i)];
        all.targets(0, j) = row.back();
        constexpr double kMostClasses = 1024;
        if (!spec.classes)
            continue;
        if (row.back() < 0 || row.back() >= kMostClasses || row.back() != std::floor(row.back()))
            throw ConfigError(
                file.string(), fmt::format("sample {}", j + 1),
                fmt::format(
                    "is of class {}; expected a whole number below {}", row.back(), kMostClasses));
        classes.push_back(static_cast<std::uint32_t>(row.back()));
    }
    normalise(all.inputs);
    if (spec.classes)
        all.targets =
            shares_of(classes, Index{*std::max_element(classes.begin(), classes.end())} + 1);
    else
        normalise(all.targets);
    return parted(
        all, spec, spec.classes ? LossKind::kCrossEntropy : LossKind::kSquares, file.string(),
        seed);
}

std::unique_ptr<Samples>
fashion_mnist(const DataSpec& spec, const std::filesystem::path& folder, std::uint64_t seed) {
    return std::make_unique<FiniteSamples>(
        read_images(folder, "train", spec.samples), read_images(folder, "t10k", spec.held_out),
        LossKind::kCrossEntropy, seed);
}

std::filesystem::path fashion_mnist_folder() {
    return "/usr/share/datasets/fashion-mnist";
}

}  // namespace switchfold::learning
