// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace switchfold {

/// Interns texts: each distinct text gets one number. 0 is the empty text.
class StringInterner {
public:
    using Id = std::uint32_t;
    StringInterner() { static_cast<void>(add("")); }
    StringInterner(const StringInterner&) = delete;
    StringInterner& operator=(const StringInterner&) = delete;
    StringInterner(StringInterner&&) = default;
    StringInterner& operator=(StringInterner&&) = default;
    ~StringInterner() = default;

    Id add(std::string_view text) {
        if (const auto found = ids_.find(text); found != ids_.end())
            return found->second;
        const auto id = static_cast<Id>(texts_.size());
        texts_.push_back(&ids_.emplace(text, id).first->first);
        return id;
    }
    /// Valid as long as the table exists.
    [[nodiscard]] std::string_view operator[](Id id) const { return *texts_[id]; }
    [[nodiscard]] std::size_t size() const { return texts_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
    std::vector<const std::string*> texts_;
};

/// Interns values: each distinct value gets one number, from 0. `T::parts()` returns an array of
/// whole numbers that distinguishes two values.
template <class T>
class Distinct {
public:
    std::uint32_t add(const T& value) {
        const auto [at, fresh] =
            ids_.try_emplace(value.parts(), static_cast<std::uint32_t>(values_.size()));
        if (fresh)
            values_.push_back(value);
        return at->second;
    }
    [[nodiscard]] const T& operator[](std::uint32_t id) const { return values_[id]; }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    using Parts = decltype(std::declval<T>().parts());
    struct Hash {
        std::size_t operator()(const Parts& parts) const {
            std::uint64_t hash = 0;
            // The odd multiplier of Fibonacci hashing: 2^64 / golden ratio.
            for (const std::uint64_t part : parts)
                hash = ((hash ^ part) * 0x9e3779b97f4a7c15ULL) ^ (hash >> 29U);
            return hash;
        }
    };
    std::vector<T> values_;
    std::unordered_map<Parts, std::uint32_t, Hash> ids_;
};

}  // namespace switchfold
