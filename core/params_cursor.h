// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "core/units.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// An override, and whether it was applied.
struct PendingOverride {
    Override change;
    bool used = false;
    std::string made;  ///< pointer of the topmost value that it replaced or created
};

/// State shared while a file and the files that it names are read.
struct ReadState {
    std::vector<Problem> problems;
    std::vector<std::string> notes;  ///< for whoever reads the results
    std::vector<PendingOverride> overrides;
    std::vector<std::string>
        unread;  ///< pointers of unreadable values, in which overrides cannot be looked up
    std::uint32_t bases = 0;  ///< nesting depth of "$base" values being read
};

/// A JSON value and its place: file and pointer.
struct Cursor {
    const Json* value = nullptr;
    std::filesystem::path file;
    std::string pointer;       ///< within that file
    std::string root_pointer;  ///< from the root file's point of view; overrides use it
    ReadState* state = nullptr;
    std::size_t file_start = 0;  ///< length of the root pointer at which this file is named
    bool over_base = false;      ///< overlays a value read from a base file: fields may be missing

    /// Records a problem with this value. A value set by an override is blamed on the override, not
    /// on the file.
    void fail(std::string message) const;
    [[nodiscard]] Cursor at(std::string_view tail, const Json& there) const;
    [[nodiscard]] Cursor child(std::string_view key, const Json& there) const;
    [[nodiscard]] Cursor item(std::size_t index) const;
    /// For a value created from scratch: all required fields must be there.
    [[nodiscard]] Cursor afresh() const {
        Cursor c = *this;
        c.over_base = false;
        return c;
    }
};

void read_value(const Cursor& c, bool& out);
void read_value(const Cursor& c, std::uint32_t& out);
void read_value(const Cursor& c, std::uint64_t& out);
void read_value(const Cursor& c, std::int32_t& out);
void read_value(const Cursor& c, double& out);
void read_value(const Cursor& c, std::string& out);
void read_value(const Cursor& c, Time& out);
void read_value(const Cursor& c, Bytes& out);
void read_value(const Cursor& c, Bandwidth& out);
void read_value(const Cursor& c, Frequency& out);
void read_value(const Cursor& c, FlopRate& out);

/// A key of an object as it is written: by its name or, with a note, by the one of the last
/// release.
struct WrittenKey {
    std::string_view name;
    const Json* value = nullptr;  ///< null: not there
};
[[nodiscard]] WrittenKey
written_key(const Cursor& c, std::string_view name, std::string_view old_name);

/// "is 3; expected an object"
void fail_type(const Cursor& c, std::string_view expected);
/// "unknown WHAT; expected one of: ...", with the nearest one suggested.
void fail_unknown(
    const Cursor& c, std::string_view what, std::string_view word,
    std::span<const std::string_view> known);
void fail_range(const Cursor& c, const std::string& low, const std::string& high);

/// Applies the overrides that point into this value. \returns the value to read.
[[nodiscard]] Json
apply_overrides(const Json& value, const std::string& root_pointer, ReadState& state);
/// Reports keys that are neither known nor "$schema" (root only) nor "$source" (where the numbers
/// beside it come from: one text, or one per field).
void report_unknown_keys(const Cursor& c, std::span<const std::string_view> known);
void report_source(const Cursor& c, std::span<const std::string_view> known);
/// Target of the string at `c`: FILE, relative to the file that holds the string, or FILE#/POINTER
/// for a value within it.
struct NamedValue {
    std::filesystem::path file;
    std::string pointer;
};
[[nodiscard]] NamedValue named_value(const Cursor& c);
/// Key whose value is the path of the base that the object overlays.
inline constexpr std::string_view kBaseKey = "$base";
/// Longest chain of bases; a longer one is taken for a cycle.
inline constexpr std::uint32_t kMostBases = 8;
/// The value at the pointer, or null if there is none.
[[nodiscard]] const Json* find_value(const Json& json, std::string_view pointer);
/// Throws the problems that `state` collected; an override without effect is one of them.
void throw_problems(ReadState& state);

}  // namespace switchfold
