// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_cursor.h"
#include "core/params_schema.h"

namespace switchfold {

/// A parameter of any JSON value: another file decides its type.
struct AnyValue {
    Json json;
};

inline void read_value(const Cursor& c, AnyValue& out) {
    out.json = *c.value;
}
inline OrderedJson write_value(const AnyValue& value) {
    return value.json;
}
template <>
struct SchemaOf<AnyValue> {
    static OrderedJson make() { return OrderedJson::object(); }
};

}  // namespace switchfold
