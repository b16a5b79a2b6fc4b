// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold::validation {

void CsvNumbers::fail(const CsvRecord& record, std::string_view column, std::string_view expected) {
    problems_.push_back(
        {label_, fmt::format("line {}", record.line),
         fmt::format("{} is \"{}\"; expected {}", column, record[column], expected)});
}

void CsvNumbers::fail_header(std::string what) {
    problems_.push_back({label_, "line 1", std::move(what)});
}

bool CsvNumbers::end_row(const CsvRecord& record) {
    const bool wrong = problems_.size() > problems_before_;
    if (wrong && unread_ != nullptr)
        unread_->push_back({record["id"], problems_[problems_before_].text()});
    rows_ += wrong ? 0 : 1;
    problems_before_ = problems_.size();
    return !wrong || unread_ == nullptr;
}

void CsvNumbers::throw_if_failed() {
    if (!problems_.empty() && (unread_ == nullptr || rows_ == 0))
        throw ConfigError(std::move(problems_));
}

}  // namespace switchfold::validation
