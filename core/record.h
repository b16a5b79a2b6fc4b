// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/field_list.h"

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace switchfold {

/// How a value is written into a file.
enum class Form : std::uint8_t {
    kPlain,      ///< as it is, numbers with all their digits
    kMilli,      ///< rounded to 3 decimals
    kMicro,      ///< rounded to 6 decimals: simulated time is a whole count of picoseconds
    kSixDigits,  ///< rounded to 6 significant digits
    kWhole,      ///< a number without a fraction
    kJsonText,   ///< a text that holds JSON
    kAsOwner,    ///< as the record was asked for
};

/// A member of a record: its key in files and how it stands there. A record lists its members once,
/// in `static constexpr auto fields()`, as `list_of(member("key", &S::member), ...)`. Its JSON and
/// the reader of that (core/record_json.h), its bytes on the way between processes
/// (core/byte_codec.h), its columns in a database (sim/sweep/run_record.h) and Python's types
/// follow from the list.
template <class Owner, class T>
struct RecordMember {
    std::string_view key;
    T Owner::*place;
    Form form = Form::kPlain;
    bool in_json = true;
    bool left_out_if_empty = false;
    bool null_if_empty = false;
    std::string_view column{};  ///< its name in databases; empty if it is no column

    /// Not in files, only on the way between processes.
    [[nodiscard]] constexpr RecordMember sent_only() const {
        RecordMember copy = *this;
        copy.in_json = false;
        return copy;
    }
    /// The key is there only if there is something to write.
    [[nodiscard]] constexpr RecordMember if_any() const {
        RecordMember copy = *this;
        copy.left_out_if_empty = true;
        return copy;
    }
    /// An empty text is null in files.
    [[nodiscard]] constexpr RecordMember or_null() const {
        RecordMember copy = *this;
        copy.null_if_empty = true;
        return copy;
    }
    [[nodiscard]] constexpr RecordMember as_column(std::string_view name) const {
        RecordMember copy = *this;
        copy.column = name;
        return copy;
    }
    [[nodiscard]] T& of(Owner& owner) const { return owner.*place; }
    [[nodiscard]] const T& of(const Owner& owner) const { return owner.*place; }
};

template <class Owner, class T>
constexpr RecordMember<Owner, T>
member(std::string_view key, T Owner::*place, Form form = Form::kPlain) {
    return {key, place, form};
}

/// The list of a record. Specialised where the list is made of other tables, or the struct stands
/// below them. A list may also hold descriptions of several members at once (PartOfRecord).
template <class S>
struct RecordFields {
    static constexpr auto list() requires requires { S::fields(); }
    { return S::fields(); }
};

template <class S>
concept Record = requires {
    RecordFields<S>::list();
};

/// A description of several members, of which a table says more: it writes and reads their keys,
/// and calls `visit` with each of them.
template <class D, class Owner>
concept PartOfRecord = requires(const D& part, Owner& owner) {
    part.each(owner, [](auto&) {});
};

/// Calls `visit` with each member of a record, in order.
template <class S, class Visit>
void for_each_member(S& record, const Visit& visit) {
    for_each_of(RecordFields<std::remove_const_t<S>>::list(), [&](const auto& described) {
        if constexpr (requires { described.of(record); })
            visit(described.of(record));
        else
            described.each(record, visit);
    });
}

}  // namespace switchfold
