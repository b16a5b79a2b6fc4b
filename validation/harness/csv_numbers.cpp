// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold::validation {

void CsvNumbers::fail(const CsvRecord& record, std::string_view column, std::string_view expected) {
    problems_.push_back(
        {label_,
         fmt::format("line {}", record.line),
         fmt::format("{} is \"{}\"; expected {}", column, record[column], expected)});
}

void CsvNumbers::fail_header(std::string what) {
    problems_.push_back({label_, "line 1", std::move(what)});
}

void CsvNumbers::throw_if_failed() {
    if (!problems_.empty())
        throw ConfigError(std::move(problems_));
}

}  // namespace switchfold::validation
