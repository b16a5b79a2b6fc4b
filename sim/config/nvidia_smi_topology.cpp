// SPDX-License-Identifier: Apache-2.0
// The matrix that nvidia-smi topo -m prints.
#include "core/error.h"
#include "core/text_cells.h"
#include "sim/config/described_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

/// GPUs that a matrix joins in pairs.
class Groups {
public:
    void join(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t from = first_of(a);
        const std::uint32_t to = first_of(b);
        first_[std::max(from, to)] = std::min(from, to);
    }
    /// How many of GPUs 0 to n - 1 each group has.
    [[nodiscard]] std::vector<std::size_t> sizes(std::size_t n) {
        std::map<std::uint32_t, std::size_t> of;
        for (std::uint32_t gpu = 0; gpu < n; ++gpu)
            ++of[first_of(gpu)];
        std::vector<std::size_t> sizes;
        for (const auto& [first, size] : of)
            sizes.push_back(size);
        return sizes;
    }

private:
    [[nodiscard]] std::uint32_t first_of(std::uint32_t gpu) {
        while (true) {
            const std::uint32_t before = first_.emplace(gpu, gpu).first->second;
            if (before == gpu)
                return gpu;
            gpu = before;
        }
    }
    std::map<std::uint32_t, std::uint32_t> first_;  ///< of a group, step by step
};

/// "GPU3" -> 3.
std::optional<std::uint32_t> gpu_number(std::string_view word) {
    if (!word.starts_with("GPU"))
        return {};
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data() + 3, word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value >= kMostDescribedGpus)
        return {};
    return value;
}

/// Without the escape sequences that nvidia-smi underlines its header with.
std::string plain(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b') {
            out += text[i];
            continue;
        }
        while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0)
            ++i;
    }
    return out;
}

}  // namespace

DescribedMachine read_nvidia_smi_topology(const std::filesystem::path& file) {
    const std::string text = plain(read_small_text(file, "the output of nvidia-smi topo -m"));
    DescribedMachine machine;
    std::vector<std::string> columns;
    std::istringstream lines(text);
    std::uint32_t line = 0;
    std::vector<DescribedLink> nvlinks;
    Groups processors;
    Groups switches;
    for (std::string row; std::getline(lines, row);) {
        ++line;
        const auto fail = [&](const std::string& what) {
            throw ConfigError(file.string(), fmt::format("line {}", line), what);
        };
        const std::vector<std::string> words = split_words(row);
        if (words.empty() || !gpu_number(words.front())) {
            if (!words.empty() && words.front().starts_with("NIC") && words.size() > 2 &&
                !words.front().ends_with(":") && !columns.empty())
                machine.nics.push_back(0);
            continue;
        }
        if (columns.empty()) {
            for (const std::string& word : words)
                if (gpu_number(word))
                    columns.push_back(word);
            continue;
        }
        const std::uint32_t gpu = *gpu_number(words.front());
        if (gpu != machine.gpus.size())
            fail(fmt::format("is the row of GPU {}; expected GPU {}", gpu, machine.gpus.size()));
        if (words.size() < 1 + columns.size())
            fail(fmt::format(
                "has {} cells; expected one for each of {} GPUs", words.size() - 1,
                columns.size()));
        machine.gpus.emplace_back();
        for (std::uint32_t to = 0; to < columns.size(); ++to) {
            const std::string& way = words[1 + to];
            if ((way == "X") != (to == gpu))
                fail(fmt::format("has {} in column {}; expected X on the diagonal", way, to + 1));
            const bool by_switch = way == "PIX" || way == "PXB" || way == "PSB";
            const bool by_processor = by_switch || way == "NODE" || way == "PHB";
            if (by_switch)
                switches.join(gpu, to);
            if (by_processor)
                processors.join(gpu, to);
            if (by_processor || way == "SYS" || way == "X")
                continue;
            const auto lanes = way.starts_with("NV") ? way.substr(2) : std::string();
            std::uint32_t count = 0;
            const auto [end, error] =
                std::from_chars(lanes.data(), lanes.data() + lanes.size(), count);
            if (lanes.empty() || error != std::errc() || end != lanes.data() + lanes.size() ||
                count > kMostDescribedLanes)
                fail(fmt::format(
                    "has {} in column {}; expected NV and a number, or X, SYS, NODE, PHB, PXB or "
                    "PIX",
                    way, to + 1));
            nvlinks.push_back({gpu, to, count});
        }
    }
    if (machine.gpus.empty() || machine.gpus.size() != columns.size())
        throw ConfigError(
            file.string(), "/",
            fmt::format(
                "has {} rows of GPUs and {} columns; expected the whole output of nvidia-smi topo "
                "-m",
                machine.gpus.size(), columns.size()));
    // NVLinks hide the way over PCIe of their pair.
    if (nvlinks.empty() && machine.gpus.size() > 1) {
        machine.hosts = static_cast<std::uint32_t>(processors.sizes(columns.size()).size());
        const std::vector<std::size_t> shared = switches.sizes(columns.size());
        if (shared.front() > 1 && std::ranges::count(shared, shared.front()) ==
                                      static_cast<std::ptrdiff_t>(shared.size()))
            machine.pcie_switches = static_cast<std::uint32_t>(shared.size());
    }
    machine.to_gpus = std::move(nvlinks);
    machine.switches_hidden = true;
    return machine;
}

}  // namespace switchfold
