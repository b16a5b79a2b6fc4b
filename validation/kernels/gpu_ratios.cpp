// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/gpu_ratios.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr double kRatioTolerance = 0.12;  ///< mean error of the ratio, by pair of GPUs and kind

template <class Keys, class Key>
void add_new(Keys& keys, const Key& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
}

}  // namespace

void compare_gpu_ratios(const std::vector<KernelOnGpu>& kernels, SuiteResult& result) {
    std::vector<std::string> gpus;
    std::vector<std::string> kinds;
    std::map<std::pair<std::string, std::string>, std::map<std::string, const KernelOnGpu*>> at;
    for (const KernelOnGpu& kernel : kernels) {
        add_new(gpus, kernel.gpu);
        add_new(kinds, kernel.kind);
        at[{kernel.gpu, kernel.kind}].emplace(kernel.size, &kernel);
    }
    std::vector<Case> all;
    for (const std::string& kind : kinds)
        for (std::size_t a = 0; a < gpus.size(); ++a)
            for (std::size_t b = a + 1; b < gpus.size(); ++b) {
                std::vector<Case> cases;
                for (const auto& [size, first] : at[{gpus[a], kind}]) {
                    const auto second = at[{gpus[b], kind}].find(size);
                    if (second == at[{gpus[b], kind}].end())
                        continue;
                    Case c;
                    c.id = fmt::format("{} over {}/{}/{}", gpus[b], gpus[a], kind, size);
                    c.fitted = first->fitted || second->second->fitted;
                    c.group = fmt::format(
                        "{} over {}, {}{}", gpus[b], gpus[a], kind,
                        c.fitted ? ", fitted half" : "");
                    c.quantity = "ratio of times";
                    c.unit = "1";
                    c.measured = second->second->measured / first->measured;
                    c.simulated = second->second->simulated / first->simulated;
                    cases.push_back(std::move(c));
                }
                if (cases.empty())
                    continue;
                const std::string what =
                    fmt::format("{} over {}, {}: mean error of the ratio", gpus[b], gpus[a], kind);
                result.verdicts.push_back({what, mape(cases), kRatioTolerance});
                std::vector<Case> held_out = cases;
                std::erase_if(held_out, [](const Case& c) { return c.fitted; });
                if (!held_out.empty() && held_out.size() < cases.size())
                    result.verdicts.push_back(
                        {what + ", rows that nothing was chosen on", mape(held_out),
                         kRatioTolerance});
                all.insert(all.end(), cases.begin(), cases.end());
            }
    result.cases.insert(result.cases.end(), all.begin(), all.end());
}

}  // namespace switchfold::validation
