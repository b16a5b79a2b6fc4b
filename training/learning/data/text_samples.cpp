// SPDX-License-Identifier: Apache-2.0
// The next character of a text, to be told from those before it.
#include "core/error.h"
#include "training/learning/data/finite_samples.h"
#include "training/learning/data/text_sentences.h"
#include "workloads/readers/input/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::learning {

namespace {

constexpr std::uint64_t kMostTextBytes = 64ULL << 20U;

std::string read_text(const std::filesystem::path& path) {
    if (!std::filesystem::is_regular_file(path))
        throw ConfigError(path.string(), "", "does not exist or is not a file; expected a text");
    InputFile file(path, kMostTextBytes);
    std::string text;
    std::vector<char> block(1U << 16U);
    while (const std::size_t size = file.read(block))
        text.append(block.data(), size);
    if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
        throw ConfigError(path.string(), fmt::format("byte {}", zero), "is 0; expected a text");
    return text;
}

/// Maps each byte that occurs in a text to a row.
class Alphabet {
public:
    explicit Alphabet(const std::string& text) {
        row_.fill(-1);
        for (const char c : text)
            row_[static_cast<unsigned char>(c)] = 0;
        for (Index& row : row_)
            if (row == 0)
                row = size_++;
    }
    [[nodiscard]] Index size() const { return size_; }
    [[nodiscard]] Index row(char c) const { return row_[static_cast<unsigned char>(c)]; }

private:
    std::array<Index, 256> row_{};
    Index size_ = 0;
};

/// Windows of the text that start at `from` and every `stride` characters after it. A token is a
/// one-hot column with the one in its character's row.
Batch windows(
    const std::string& text, const Alphabet& alphabet, std::uint32_t tokens, std::size_t from,
    std::size_t stride, std::uint32_t count) {
    Batch batch{
        Matrix::Zero(alphabet.size() * tokens, count), Matrix::Zero(alphabet.size(), count)};
    for (Index j = 0; j < batch.inputs.cols(); ++j) {
        const std::size_t begin = from + static_cast<std::size_t>(j) * stride;
        for (std::uint32_t t = 0; t < tokens; ++t)
            batch.inputs(alphabet.size() * t + alphabet.row(text[begin + t]), j) = 1;
        batch.targets(alphabet.row(text[begin + tokens]), j) = 1;
    }
    return batch;
}

}  // namespace

std::unique_ptr<Samples> text_samples(
    const DataSpec& spec, std::uint32_t tokens, const std::filesystem::path& file,
    std::uint64_t seed) {
    // Held-out text follows the training text and shares no character with it.
    const std::size_t behind = std::size_t{spec.held_out} + tokens;
    const std::string text =
        file.empty() ? sentences(behind + spec.samples + tokens, seed) : read_text(file);
    if (text.size() < behind + tokens + 1)
        throw ConfigError(
            file.string(), "",
            fmt::format(
                "has {} characters; expected at least {}, to hold out {} behind {} others each",
                text.size(), behind + tokens + 1, spec.held_out, tokens));
    const Alphabet alphabet(text);
    const std::size_t possible = text.size() - behind - tokens;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(possible, spec.samples));
    return std::make_unique<FiniteSamples>(
        windows(text, alphabet, tokens, 0, possible / count, count),
        windows(text, alphabet, tokens, text.size() - behind, 1, spec.held_out),
        LossKind::kCrossEntropy, seed);
}

}  // namespace switchfold::learning
