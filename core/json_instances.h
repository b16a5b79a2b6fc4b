// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// \cond
// Most units use these parts of nlohmann's JSON. json_instances.cpp compiles them once for all; in
// each unit they would take a tenth of its time.
//
// INSTANCES: `template`, or `extern template`. BASIC: the kind of JSON.
#define SWITCHFOLD_JSON_INSTANCES(INSTANCES, BASIC)                                                \
    INSTANCES class nlohmann::detail::serializer<BASIC>;                                           \
    INSTANCES class nlohmann::detail::lexer<                                                       \
        BASIC, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;             \
    INSTANCES class nlohmann::detail::parser<                                                      \
        BASIC, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;             \
    INSTANCES class nlohmann::detail::json_sax_dom_parser<BASIC>;                                  \
    INSTANCES class nlohmann::detail::json_sax_dom_callback_parser<BASIC>;                         \
    INSTANCES void BASIC::json_value::destroy(BASIC::value_t);                                     \
    INSTANCES BASIC::basic_json(BASIC::initializer_list_t, bool, BASIC::value_t);                  \
    INSTANCES BASIC::basic_json(const BASIC&);                                                     \
    INSTANCES std::string BASIC::dump(int, char, bool, BASIC::error_handler_t) const;              \
    INSTANCES class std::vector<BASIC>

SWITCHFOLD_JSON_INSTANCES(extern template, nlohmann::json);
SWITCHFOLD_JSON_INSTANCES(extern template, nlohmann::ordered_json);
/// \endcond
