// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace switchfold {

/// Writes values as bytes that a process of the same program reads back: texts, vectors, what can
/// be copied byte by byte, and structs for which parts(value), found by their namespace, gives a
/// tuple of references.
class ByteWriter {
public:
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_trivially_copyable_v<T>)
            append(&value, sizeof(T));
        else
            std::apply([&](const auto&... each) { (put(each), ...); }, parts(value));
    }
    void put(const std::string& text) {
        put(text.size());
        bytes_ += text;
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put(values.size());
        if constexpr (std::is_trivially_copyable_v<T>)
            append(values.data(), values.size() * sizeof(T));
        else
            for (const T& value : values)
                put(value);
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void append(const void* data, std::size_t size) {
        bytes_.append(static_cast<const char*>(data), size);
    }
    std::string bytes_;
};

/// Reads them in the same order. Throws InternalError where they end early.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    void get(T& value) {
        if constexpr (std::is_trivially_copyable_v<T>)
            std::memcpy(&value, take(sizeof(T)), sizeof(T));
        else
            std::apply([&](auto&... each) { (get(each), ...); }, parts(value));
    }
    void get(std::string& text) {
        const std::size_t size = length(1);
        text.assign(take(size), size);
    }
    template <class T>
    void get(std::vector<T>& values) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            const std::size_t count = length(sizeof(T));
            values.resize(count);
            if (count > 0)
                std::memcpy(values.data(), take(count * sizeof(T)), count * sizeof(T));
        } else {
            values.resize(length(sizeof(std::size_t)));
            for (T& value : values)
                get(value);
        }
    }
    /// Throws InternalError if anything is left.
    void end() const {
        SWITCHFOLD_CHECK(bytes_.empty(), "a worker's bytes go on behind their end");
    }

private:
    const char* take(std::size_t count) {
        SWITCHFOLD_CHECK(count <= bytes_.size(), "a worker's bytes end early");
        const char* at = bytes_.data();
        bytes_.remove_prefix(count);
        return at;
    }
    /// A count of elements of at least `each` bytes that can still follow.
    std::size_t length(std::size_t each) {
        std::size_t count = 0;
        get(count);
        SWITCHFOLD_CHECK(count <= bytes_.size() / each, "a worker's bytes end early");
        return count;
    }
    std::string_view bytes_;
};

}  // namespace switchfold
