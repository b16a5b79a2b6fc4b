// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

/// Destroys modules from the last to the first, the order in which SystemC finds each at once
/// (Simulation::run()).
template <class Module>
void destroy_backwards(std::vector<std::unique_ptr<Module>>& modules) {
    while (!modules.empty())
        modules.pop_back();
}

/// Modules of one kind, in the order of their construction, which destroy_backwards() ends.
template <class Module>
class Modules {
public:
    Modules() = default;
    ~Modules() { destroy_backwards(modules_); }
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;
    Modules(Modules&&) = delete;
    Modules& operator=(Modules&&) = delete;

    template <class... Arguments>
    Module& add(Arguments&&... arguments) {
        modules_.push_back(std::make_unique<Module>(std::forward<Arguments>(arguments)...));
        return *modules_.back();
    }
    [[nodiscard]] std::size_t size() const { return modules_.size(); }
    [[nodiscard]] Module& operator[](std::size_t i) const { return *modules_[i]; }
    [[nodiscard]] auto begin() const { return modules_.begin(); }
    [[nodiscard]] auto end() const { return modules_.end(); }

private:
    std::vector<std::unique_ptr<Module>> modules_;
};

}  // namespace switchfold
