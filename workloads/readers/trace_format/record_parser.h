// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/trace_format/operation_records.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace switchfold::trace_format {

/// What is wrong with a record: which of its keys ("/grid", or "" for all of it), and what was
/// expected.
class RecordError : public std::runtime_error {
public:
    RecordError(std::string pointer, const std::string& message) :
        std::runtime_error(message), pointer_(std::move(pointer)) {}
    [[nodiscard]] const std::string& pointer() const { return pointer_; }

private:
    std::string pointer_;
};

/// Reads records from lines of JSON. Strict: no unknown, missing or double keys, no number that
/// does not fit.
class RecordParser {
public:
    RecordParser();
    ~RecordParser();
    RecordParser(const RecordParser&) = delete;
    RecordParser& operator=(const RecordParser&) = delete;
    RecordParser(RecordParser&&) = delete;
    RecordParser& operator=(RecordParser&&) = delete;
    /// Throws RecordError. `line` gets padding behind it.
    [[nodiscard]] Record parse(std::string& line);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace switchfold::trace_format
