// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// \cond no documentation is made of instances
/// What most units would otherwise compile anew of both kinds of JSON: EACH(template, Basic).
#define SWITCHFOLD_JSON_INSTANCES(EACH, Basic)                                                  \
    EACH class nlohmann::detail::serializer<Basic>;                                             \
    EACH class nlohmann::detail::lexer<                                                         \
        Basic,                                                                                  \
        nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;                 \
    EACH class nlohmann::detail::parser<                                                        \
        Basic,                                                                                  \
        nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;                 \
    EACH class nlohmann::detail::json_sax_dom_parser<Basic>;                                    \
    EACH class nlohmann::detail::json_sax_dom_callback_parser<Basic>;                           \
    EACH void Basic::json_value::destroy(Basic::value_t);                                       \
    EACH Basic::basic_json(Basic::initializer_list_t, bool, Basic::value_t);                    \
    EACH Basic::basic_json(const Basic&);                                                       \
    EACH std::string Basic::dump(int, char, bool, Basic::error_handler_t) const;                \
    EACH class std::vector<Basic>

SWITCHFOLD_JSON_INSTANCES(extern template, nlohmann::json);
SWITCHFOLD_JSON_INSTANCES(extern template, nlohmann::ordered_json);
/// \endcond
