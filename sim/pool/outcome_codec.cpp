// SPDX-License-Identifier: Apache-2.0
#include "sim/pool/outcome_codec.h"

#include "models/collectives/engine.h"
#include "sim/pool/byte_codec.h"

#include <concepts>
#include <tuple>
#include <type_traits>

namespace switchfold {

template <class S, class T>
concept Either = std::same_as<std::remove_const_t<S>, T>;

// In the namespace of the structs, where the codec looks for them.
auto parts(Either<StatisticTable::Column> auto& c) {
    return std::tie(c.name, c.unit, c.meaning);
}
auto parts(Either<StatisticTable::Row> auto& r) {
    return std::tie(r.name, r.values);
}
auto parts(Either<StatisticTable> auto& t) {
    return std::tie(t.kind, t.about, t.columns, t.rows);
}
auto parts(Either<CounterSample> auto& c) {
    return std::tie(c.track, c.time_us, c.value);
}
auto parts(Either<Outcome> auto& o) {
    return std::tie(
        o.times, o.collectives, o.statistics, o.counters, o.notes, o.end_ps, o.jumped_ps,
        o.coarse_bytes, o.folded_ranks, o.events);
}

std::string encode(const Outcome& outcome) {
    ByteWriter writer;
    writer.put(outcome);
    return writer.take();
}

Outcome decode(std::string_view bytes) {
    Outcome outcome;
    ByteReader reader(bytes);
    reader.get(outcome);
    reader.end();
    return outcome;
}

}  // namespace switchfold
