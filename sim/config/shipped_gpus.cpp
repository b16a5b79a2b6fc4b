// SPDX-License-Identifier: Apache-2.0
#include "sim/config/shipped_gpus.h"

#include "core/params_reader.h"
#include "core/text.h"
#include "sim/config/parameter_units.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>

namespace switchfold {

namespace {

constexpr const char* kFolder = "configs/systems/gpus";

std::optional<std::filesystem::path> folder_above(std::filesystem::path folder) {
    std::error_code ignored;
    for (;;) {
        for (const auto& root : {folder, folder / "share/switchfold"})
            if (std::filesystem::is_directory(root / kFolder, ignored))
                return root / kFolder;
        const auto above = folder.parent_path();
        if (above == folder || above.empty())
            return std::nullopt;
        folder = above;
    }
}

/// Letters and digits in lower case.
std::string squeezed(std::string_view name) {
    std::string text = lower(name);
    std::erase_if(text, [](unsigned char c) { return std::isalnum(c) == 0; });
    return text;
}

/// Words of `stated` that `name` has, however it divides them ("80GB", "80 GB").
std::size_t common_words(const std::string& name, std::string_view stated) {
    const std::string all = squeezed(name);
    std::size_t count = 0;
    while (!stated.empty()) {
        const std::size_t end = stated.find_first_of(" -_");
        const std::string word = squeezed(stated.substr(0, end));
        count += !word.empty() && contains(all, word) ? 1 : 0;
        stated.remove_prefix(end == std::string_view::npos ? stated.size() : end + 1);
    }
    return count;
}

/// What a GPU is mounted on, as far as its name says: sxm, pcie, nvl.
std::string_view board_of(std::string_view name) {
    const std::string text = lower(name);
    for (const std::string_view board : {"sxm", "pcie", "nvl"})
        if (contains(text, board))
            return board;
    return {};
}

/// Whether no name says another board than the other.
bool may_be_one_board(std::string_view a, std::string_view b) {
    const std::string_view of_a = board_of(a);
    const std::string_view of_b = board_of(b);
    return of_a.empty() || of_b.empty() || of_a == of_b;
}

}  // namespace

std::string_view gpu_model(std::string_view name) {
    constexpr std::string_view kBetween = " -_";
    while (!name.empty()) {
        const std::string_view word = name.substr(0, name.find_first_of(kBetween));
        if (word.find_first_of("0123456789") != std::string_view::npos)
            return word;
        name.remove_prefix(std::min(name.size(), word.size() + 1));
    }
    return name;
}

bool describes(const GpuParams& gpu, const StatedGpu& stated) {
    if (stated.name.empty() || gpu_model(gpu.name) != gpu_model(stated.name))
        return false;
    if (stated.sms != 0 && stated.sms != gpu.sms)
        return false;
    // Drivers keep some of the memory, and data sheets mean GiB by GB or not.
    constexpr double kOff = 0.25;
    const auto capacity = static_cast<double>(gpu.memory.capacity.count());
    return stated.memory == 0 || capacity == 0 ||
           std::abs(static_cast<double>(stated.memory) / capacity - 1) < kOff;
}

std::vector<GpuParams> shipped_gpus(const std::filesystem::path& file) {
    std::error_code ignored;
    auto folder = folder_above(std::filesystem::absolute(file, ignored).parent_path());
    if (!folder)
        folder = folder_above(std::filesystem::read_symlink("/proc/self/exe", ignored));
    std::vector<std::filesystem::path> files;
    if (folder)
        for (const auto& entry : std::filesystem::directory_iterator(*folder, ignored))
            if (entry.path().extension() == ".json")
                files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<GpuParams> gpus;
    for (const std::filesystem::path& path : files)
        gpus.push_back(read_params_file<GpuParams>(path, {}));
    return gpus;
}

std::optional<GpuParams>
best_description(const std::vector<GpuParams>& gpus, const StatedGpu& stated) {
    const GpuParams* best = nullptr;
    std::size_t most = 0;
    for (const GpuParams& gpu : gpus)
        if (const std::size_t words = common_words(gpu.name, stated.name);
            describes(gpu, stated) && may_be_one_board(gpu.name, stated.name) && words > most) {
            best = &gpu;
            most = words;
        }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace switchfold
