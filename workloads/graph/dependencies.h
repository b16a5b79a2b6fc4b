// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace switchfold {

/// Indices of the operations that an operation waits for. A trace has millions of these lists,
/// nearly all short: short ones are stored in place.
class Dependencies {
public:
    using Index = std::uint32_t;

    Dependencies() = default;
    Dependencies(std::initializer_list<Index> indices) : Dependencies(std::vector(indices)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): a list is a list
    Dependencies(const std::vector<Index>& indices) {
        for (const Index index : indices)
            push_back(index);
    }
    Dependencies(const Dependencies& other) {
        for (const Index index : other)
            push_back(index);
    }
    Dependencies(Dependencies&& other) noexcept { swap(other); }
    Dependencies& operator=(Dependencies other) noexcept {
        swap(other);
        return *this;
    }
    ~Dependencies() { delete more_; }

    void push_back(Index index) {
        if (more_ == nullptr && size_ == few_.size())
            more_ = new std::vector<Index>(few_.begin(), few_.end());
        if (more_ != nullptr)
            more_->push_back(index);
        else
            few_[size_] = index;
        ++size_;
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Index* begin() { return more_ != nullptr ? more_->data() : few_.data(); }
    [[nodiscard]] Index* end() { return begin() + size_; }
    [[nodiscard]] const Index* begin() const {
        return more_ != nullptr ? more_->data() : few_.data();
    }
    [[nodiscard]] const Index* end() const { return begin() + size_; }
    [[nodiscard]] Index operator[](std::size_t i) const { return begin()[i]; }
    bool operator==(const Dependencies& other) const {
        return size_ == other.size_ && std::equal(begin(), end(), other.begin());
    }

private:
    void swap(Dependencies& other) noexcept {
        std::swap(few_, other.few_);
        std::swap(size_, other.size_);
        std::swap(more_, other.more_);
    }

    std::array<Index, 3> few_{};
    std::uint32_t size_ = 0;
    std::vector<Index>* more_ = nullptr;  ///< all of them, once they exceed the space in place
};

}  // namespace switchfold
