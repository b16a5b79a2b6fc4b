// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool/outcome_codec.h"

#include "sim/core/error.h"

#include <cstring>
#include <type_traits>

namespace switchfold {

namespace {

class Writer {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) {
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), raw, raw + sizeof(T));
    }
    void put(const std::string& text) {
        put(text.size());
        const auto* raw = reinterpret_cast<const std::byte*>(text.data());
        bytes.insert(bytes.end(), raw, raw + text.size());
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put(values.size());
        if constexpr (std::is_trivially_copyable_v<T>) {
            const auto* raw = reinterpret_cast<const std::byte*>(values.data());
            bytes.insert(bytes.end(), raw, raw + values.size() * sizeof(T));
        } else {
            for (const T& value : values)
                put(value);
        }
    }
    void put(const StatisticTable::Column& c) {
        put(c.name);
        put(c.unit);
        put(c.meaning);
    }
    void put(const StatisticTable::Row& r) {
        put(r.name);
        put(r.values);
    }
    void put(const StatisticTable& t) {
        put(t.kind);
        put(t.about);
        put(t.columns);
        put(t.rows);
    }
    void put(const CounterSample& c) {
        put(c.track);
        put(c.time_us);
        put(c.value);
    }
    std::vector<std::byte> bytes;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void get(T& value) { std::memcpy(&value, take(sizeof(T)), sizeof(T)); }
    void get(std::string& text) {
        const std::size_t size = length(1);
        const std::byte* raw = take(size);
        text.assign(reinterpret_cast<const char*>(raw), size);
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
    void get(StatisticTable::Column& c) {
        get(c.name);
        get(c.unit);
        get(c.meaning);
    }
    void get(StatisticTable::Row& r) {
        get(r.name);
        get(r.values);
    }
    void get(StatisticTable& t) {
        get(t.kind);
        get(t.about);
        get(t.columns);
        get(t.rows);
    }
    void get(CounterSample& c) {
        get(c.track);
        get(c.time_us);
        get(c.value);
    }
    [[nodiscard]] bool finished() const { return bytes_.empty(); }

private:
    const std::byte* take(std::size_t count) {
        SWITCHFOLD_CHECK(count <= bytes_.size(), "an outcome is cut off");
        const std::byte* at = bytes_.data();
        bytes_ = bytes_.subspan(count);
        return at;
    }
    /// A count of elements of at least `each` bytes that can still follow.
    std::size_t length(std::size_t each) {
        std::size_t count = 0;
        get(count);
        SWITCHFOLD_CHECK(count <= bytes_.size() / each, "an outcome is cut off");
        return count;
    }
    std::span<const std::byte> bytes_;
};

template <class Coder, class O>
void visit(Coder&& code, O& outcome) {
    code(outcome.times);
    code(outcome.collectives);
    code(outcome.statistics);
    code(outcome.counters);
    code(outcome.notes);
    code(outcome.end_ps);
    code(outcome.jumped_ps);
    code(outcome.events);
}

}  // namespace

std::vector<std::byte> encode(const Outcome& outcome) {
    Writer writer;
    visit([&](const auto& value) { writer.put(value); }, outcome);
    return std::move(writer.bytes);
}

Outcome decode(std::span<const std::byte> bytes) {
    Outcome outcome;
    Reader reader(bytes);
    visit([&](auto& value) { reader.get(value); }, outcome);
    SWITCHFOLD_CHECK(reader.finished(), "an outcome has bytes left over");
    return outcome;
}

}  // namespace switchfold
