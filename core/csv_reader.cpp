// SPDX-License-Identifier: Apache-2.0
#include "core/csv_reader.h"

#include <utility>

namespace switchfold {

namespace {

constexpr std::string_view kBlanks = " ";

void trim(std::string& cell) {
    const std::size_t end = cell.find_last_not_of(kBlanks);
    cell.erase(end == std::string::npos ? 0 : end + 1);
    cell.erase(0, cell.find_first_not_of(kBlanks));
}

}  // namespace

CsvReader::CsvReader(std::string_view text, Cells cells) : text_(text), cells_(cells) {}

CsvReader::CsvReader(NextLine next_line, Cells cells) :
    next_line_(std::move(next_line)), cells_(cells) {}

bool CsvReader::take_line() {
    if (next_line_) {
        if (!next_line_(current_))
            return false;
    } else {
        if (text_.empty())
            return false;
        const std::size_t end = text_.find('\n');
        current_ = text_.substr(0, end);
        text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    }
    ++lines_;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (lines_ == 1 && current_.starts_with(kByteOrderMark))
        current_.erase(0, kByteOrderMark.size());
    return true;
}

void CsvReader::skip_comments() {
    while (text_.starts_with('#'))
        take_line();
}

bool CsvReader::next(std::vector<std::string>& cells) {
    whole_ = true;
    while (take_line()) {
        line_ = lines_;
        if (current_.empty() || current_ == "\r" ||
            (cells_ == Cells::kTrimmed && current_.find_first_not_of(" \r") == std::string::npos))
            continue;
        split(cells);
        if (cells_ == Cells::kTrimmed)
            for (std::string& cell : cells)
                trim(cell);
        return true;
    }
    return false;
}

void CsvReader::split(std::vector<std::string>& cells) {
    std::size_t count = 0;
    const auto begin_cell = [&]() -> std::string& {
        if (count == cells.size())
            cells.emplace_back();
        cells[count].clear();  // keeps its memory for the next record
        return cells[count++];
    };
    std::string* cell = &begin_cell();
    for (std::size_t at = 0; at < current_.size();) {
        const char c = current_[at++];
        if (c == separator_)
            cell = &begin_cell();
        else if (c == '"' && cell->empty())
            take_quoted(*cell, at);
        else if (c != '\r' || at < current_.size())
            *cell += c;
    }
    cells.resize(count);
}

void CsvReader::take_quoted(std::string& cell, std::size_t& at) {
    while (true) {
        for (; at < current_.size(); ++at) {
            if (current_[at] != '"') {
                cell += current_[at];
            } else if (at + 1 < current_.size() && current_[at + 1] == '"') {
                cell += '"';
                ++at;
            } else {
                ++at;
                return;
            }
        }
        if (!take_line()) {
            whole_ = false;
            return;
        }
        cell += '\n';
        at = 0;
    }
}

}  // namespace switchfold
