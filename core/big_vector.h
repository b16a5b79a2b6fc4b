// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_memory.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace switchfold {

/// Whether a T may be moved byte by byte. Specialise for types that are not trivially copyable but
/// hold no pointer into themselves.
template <class T>
struct IsRelocatable : std::is_trivially_copyable<T> {};

/// A std::vector for millions of records, stored in a BigMemory. Appending drops the resident pages
/// of records appended long ago; passes over all records call forget_at() with each index.
/// References are valid until the next push_back.
template <class T>
class BigVector {
    static_assert(IsRelocatable<T>::value && alignof(T) <= alignof(std::max_align_t));

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    BigVector() = default;
    BigVector(std::initializer_list<T> values) : BigVector(values.begin(), values.end()) {}
    template <class Iterator>
    BigVector(Iterator from, Iterator to) {
        for (; from != to; ++from)
            push_back(*from);
    }
    BigVector(std::size_t count, const T& value) {
        for (std::size_t i = 0; i < count; ++i)
            push_back(value);
    }
    BigVector(const BigVector& other) {
        for (std::size_t i = 0; i < other.size(); ++i) {
            other.forget_at(i);
            push_back(other[i]);
        }
    }
    BigVector(BigVector&& other) noexcept { swap(other); }
    BigVector& operator=(BigVector other) noexcept {
        swap(other);
        return *this;
    }
    ~BigVector() { shrink(0); }

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T* data() { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.data()); }
    [[nodiscard]] T* begin() { return data(); }
    [[nodiscard]] T* end() { return data() + size_; }
    [[nodiscard]] const T* begin() const { return data(); }
    [[nodiscard]] const T* end() const { return data() + size_; }
    [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
    [[nodiscard]] T& front() { return data()[0]; }
    [[nodiscard]] const T& front() const { return data()[0]; }
    [[nodiscard]] T& back() { return data()[size_ - 1]; }
    [[nodiscard]] const T& back() const { return data()[size_ - 1]; }

    void push_back(T value) {
        const std::size_t bytes = (size_ + 1) * sizeof(T);
        if (bytes > memory_.capacity())
            memory_.grow(bytes);
        forget_at(size_);
        new (end()) T(std::move(value));
        ++size_;
    }
    /// Keeps the first `size` records; `size` must not exceed size().
    void shrink(std::size_t size) {
        if constexpr (!std::is_trivially_destructible_v<T>)
            for (std::size_t i = size; i < size_; ++i) {
                forget_at(i);
                std::destroy_at(data() + i);
            }
        size_ = size;
    }
    void clear() { *this = BigVector(); }

    /// Iterates over all records and drops the pages of those passed:
    /// `for (T& record : v.pass())`.
    [[nodiscard]] auto pass() { return Pass<T>(data(), size_, &memory_); }
    [[nodiscard]] auto pass() const { return Pass<const T>(data(), size_, &memory_); }

    /// For passes by index, in either direction: call it with each index; it drops the resident
    /// pages at each window's end.
    void forget_at(std::size_t i) const {
        if (i % kAWindow == 0)
            memory_.forget();
    }

    /// For passes by index that skip records: drops the resident pages on entering another window.
    class Skipping {
    public:
        explicit Skipping(const BigVector& records) : records_(records) {}
        void at(std::size_t i) {
            if (i / kAWindow != window_)
                records_.memory_.forget();
            window_ = i / kAWindow;
        }

    private:
        const BigVector& records_;
        std::size_t window_ = 0;
    };

    bool operator==(const BigVector& other) const {
        return size_ == other.size_ && std::equal(begin(), end(), other.begin());
    }

private:
    template <class Record>
    class Pass {
    public:
        class Iterator {
        public:
            Iterator(Record* record, const BigMemory* memory) : record_(record), memory_(memory) {}
            Record& operator*() const { return *record_; }
            Iterator& operator++() {
                ++record_;
                if (++behind_ % kAWindow == 0)
                    memory_->forget();
                return *this;
            }
            bool operator==(const Iterator& other) const { return record_ == other.record_; }

        private:
            Record* record_;
            const BigMemory* memory_;
            std::size_t behind_ = 0;
        };

        Pass(Record* first, std::size_t size, const BigMemory* memory) :
            first_(first), size_(size), memory_(memory) {}
        [[nodiscard]] Iterator begin() const { return {first_, memory_}; }
        [[nodiscard]] Iterator end() const { return {first_ + size_, memory_}; }

    private:
        Record* first_;
        std::size_t size_;
        const BigMemory* memory_;
    };

    /// Records a window, a power of two that fills at least half of it.
    static constexpr std::size_t kAWindow = [] {
        std::size_t records = 1;
        while (2 * records * sizeof(T) <= BigMemory::kWindow)
            records *= 2;
        return records;
    }();

    void swap(BigVector& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
    }

    BigMemory memory_;
    std::size_t size_ = 0;
};

}  // namespace switchfold
