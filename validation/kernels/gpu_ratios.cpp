// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/gpu_ratios.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold::validation {

namespace {

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
    for (const std::string& kind : kinds)
        for (std::size_t a = 0; a < gpus.size(); ++a)
            for (std::size_t b = a + 1; b < gpus.size(); ++b)
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
                    result.cases.push_back(std::move(c));
                }
}

}  // namespace switchfold::validation
