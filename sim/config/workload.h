// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

namespace switchfold {

/// A workload of any kind (sim/kinds/rows.h lists them). Its parameters are known to its kind
/// alone: a parameter more concerns no source that only hands workloads on. Copies are deep.
class Workload {
public:
    Workload() = default;
    template <class Params>
    requires requires { Params::kType; }
    Workload(Params params) : held_(std::make_unique<HeldParams<Params>>(std::move(params))) {}
    Workload(const Workload& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
    Workload(Workload&&) noexcept = default;
    Workload& operator=(const Workload& other) {
        Workload copy(other);
        *this = std::move(copy);
        return *this;
    }
    Workload& operator=(Workload&&) noexcept = default;
    ~Workload() = default;

    /// Its parameters, if it is of the kind that has these; else null.
    template <class Params>
    [[nodiscard]] const Params* as() const {
        return held_ && held_->type() == typeid(Params)
                   ? &static_cast<const HeldParams<Params>&>(*held_).params
                   : nullptr;
    }
    template <class Params>
    [[nodiscard]] Params* as() {
        return const_cast<Params*>(std::as_const(*this).as<Params>());
    }

private:
    struct Held {
        Held() = default;
        virtual ~Held() = default;
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        Held(Held&&) = delete;
        Held& operator=(Held&&) = delete;
        [[nodiscard]] virtual std::unique_ptr<Held> copy() const = 0;
        [[nodiscard]] virtual const std::type_info& type() const = 0;
    };
    template <class Params>
    struct HeldParams final : Held {
        explicit HeldParams(Params held) : params(std::move(held)) {}
        [[nodiscard]] std::unique_ptr<Held> copy() const override {
            return std::make_unique<HeldParams>(params);
        }
        [[nodiscard]] const std::type_info& type() const override { return typeid(Params); }
        Params params;
    };

    std::unique_ptr<Held> held_;
};

}  // namespace switchfold
