// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace switchfold {

/// An optional value whose owner need not know its type: T is complete where a value is made or
/// looked at, and only declared where owners are copied and destroyed. Copies are deep.
template <class T>
class Boxed {
public:
    Boxed() = default;
    Boxed(T value) :
        value_(std::make_shared<T>(std::move(value))),
        copy_([](const T& of) { return std::make_shared<T>(of); }) {}
    Boxed(const Boxed& other) :
        value_(other.value_ ? other.copy_(*other.value_) : nullptr), copy_(other.copy_) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) {
        Boxed copy(other);
        *this = std::move(copy);
        return *this;
    }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    T& emplace() {
        *this = Boxed(T{});
        return *value_;
    }
    void reset() { value_.reset(); }
    [[nodiscard]] bool has_value() const { return value_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }

private:
    std::shared_ptr<T> value_;
    std::shared_ptr<T> (*copy_)(const T&) = nullptr;
};

}  // namespace switchfold
