// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/trace_format/operation_records.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace switchfold::trace_format {

/// What is wrong with a record: the key ("/grid", or "" for the whole record), and what was
/// expected.
class RecordError : public std::runtime_error {
public:
    RecordError(std::string pointer, const std::string& message) :
        std::runtime_error(message), pointer_(std::move(pointer)) {}
    [[nodiscard]] const std::string& pointer() const { return pointer_; }

private:
    std::string pointer_;
};

/// Parses records from lines of JSON. Strict: rejects unknown, missing and duplicate keys and
/// numbers that do not fit.
class RecordParser {
public:
    RecordParser();
    ~RecordParser();
    RecordParser(const RecordParser&) = delete;
    RecordParser& operator=(const RecordParser&) = delete;
    RecordParser(RecordParser&&) = delete;
    RecordParser& operator=(RecordParser&&) = delete;
    /// Throws RecordError. Appends padding to `line`.
    [[nodiscard]] Record parse(std::string& line);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace switchfold::trace_format
