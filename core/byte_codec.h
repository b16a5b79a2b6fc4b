// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "core/record.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct RecordFields<Problem> {
    static constexpr auto list() {
        return list_of(
            member("file", &Problem::file), member("pointer", &Problem::pointer),
            member("message", &Problem::message));
    }
};

/// Writes values as bytes that a process of the same program reads back: texts, vectors, maps, what
/// can be copied byte by byte, and records.
class ByteWriter {
public:
    template <class T>
    void put(const T& value) {
        static_assert(!std::is_pointer_v<T> && !std::is_same_v<T, std::string_view>);
        if constexpr (std::is_trivially_copyable_v<T>)
            append(&value, sizeof(T));
        else
            for_each_member(value, [&](const auto& each) { put(each); });
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
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value)
            put(*value);
    }
    template <class Key, class T, class Order>
    void put(const std::map<Key, T, Order>& values) {
        put(values.size());
        for (const auto& [key, value] : values) {
            put(key);
            put(value);
        }
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
            for_each_member(value, [&](auto& each) { get(each); });
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
            values.resize(length(1));
            for (T& value : values)
                get(value);
        }
    }
    template <class T>
    void get(std::optional<T>& value) {
        char given = 0;
        get(given);
        value.reset();
        if (given != 0)
            get(value.emplace());
    }
    template <class Key, class T, class Order>
    void get(std::map<Key, T, Order>& values) {
        values.clear();
        for (std::size_t count = length(1); count > 0; --count) {
            Key key{};
            get(key);
            get(values[std::move(key)]);
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

template <class T>
[[nodiscard]] std::string value_bytes(const T& value) {
    ByteWriter writer;
    writer.put(value);
    return writer.take();
}

/// Throws InternalError if the bytes are not those of one whole value.
template <class T>
[[nodiscard]] T value_of_bytes(std::string_view bytes) {
    T value;
    ByteReader reader(bytes);
    reader.get(value);
    reader.end();
    return value;
}

}  // namespace switchfold
