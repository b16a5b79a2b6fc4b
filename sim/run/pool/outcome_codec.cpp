// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool/outcome_codec.h"

#include "models/collectives/engine.h"
#include "sim/core/error.h"

#include <cstring>
#include <type_traits>

namespace switchfold {

namespace {

class Writer {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) { append(&value, sizeof(T)); }
    void put(const std::string& text) {
        put(text.size());
        bytes += text;
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put(values.size());
        if constexpr (std::is_trivially_copyable_v<T>) {
            append(values.data(), values.size() * sizeof(T));
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
    std::string bytes;

private:
    void append(const void* data, std::size_t size) {
        bytes.append(static_cast<const char*>(data), size);
    }
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void get(T& value) { std::memcpy(&value, take(sizeof(T)), sizeof(T)); }
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
    const char* take(std::size_t count) {
        SWITCHFOLD_CHECK(count <= bytes_.size(), "an outcome is cut off");
        const char* at = bytes_.data();
        bytes_.remove_prefix(count);
        return at;
    }
    /// A count of elements of at least `each` bytes that can still follow.
    std::size_t length(std::size_t each) {
        std::size_t count = 0;
        get(count);
        SWITCHFOLD_CHECK(count <= bytes_.size() / each, "an outcome is cut off");
        return count;
    }
    std::string_view bytes_;
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

std::string encode(const Outcome& outcome) {
    Writer writer;
    visit([&](const auto& value) { writer.put(value); }, outcome);
    return std::move(writer.bytes);
}

Outcome decode(std::string_view bytes) {
    Outcome outcome;
    Reader reader(bytes);
    visit([&](auto& value) { reader.get(value); }, outcome);
    SWITCHFOLD_CHECK(reader.finished(), "an outcome has bytes left over");
    return outcome;
}

}  // namespace switchfold
