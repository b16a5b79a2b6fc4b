// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/operator_schedule.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/text_cells.h"
#include "workloads/readers/input/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace switchfold {

namespace {

/// A table by column name, with the problems found in it.
class Table {
public:
    Table(std::string_view text, std::string label, const std::vector<std::string>& needed) :
        label_(std::move(label)) {
        CsvReader reader(text);
        std::vector<std::string> header;
        reader.next(header);
        for (const std::string& column : needed) {
            const auto found = std::find(header.begin(), header.end(), column);
            if (found == header.end())
                fail(
                    1,
                    fmt::format("has no column {}; expected {}", column, fmt::join(needed, ", ")));
            at_[column] = static_cast<std::size_t>(found - header.begin());
        }
        std::vector<std::string> cells;
        while (problems_.empty() && reader.next(cells)) {
            if (cells.size() == header.size())
                rows_.push_back({reader.line(), cells});
            else
                fail(
                    reader.line(),
                    fmt::format("has {} cells; expected {}", cells.size(), header.size()));
        }
    }

    struct Row {
        std::size_t line = 0;
        std::vector<std::string> cells;
    };
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    [[nodiscard]] const std::string& cell(const Row& row, const std::string& column) const {
        return row.cells[at_.at(column)];
    }
    [[nodiscard]] std::uint64_t count(const Row& row, const std::string& column) {
        const auto value = parse_count(cell(row, column));
        if (!value)
            fail(
                row.line,
                fmt::format("{} is \"{}\"; expected a whole number", column, cell(row, column)));
        return value.value_or(0);
    }
    void fail(std::size_t line, std::string what) {
        problems_.push_back({label_, fmt::format("line {}", line), std::move(what)});
    }
    [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

private:
    std::string label_;
    std::map<std::string, std::size_t> at_;
    std::vector<Row> rows_;
    std::vector<Problem> problems_;
};

struct Storage {
    std::uint64_t bytes = 0;
    bool written = false;       ///< by an operator of the step, before any read
    bool read_first = false;    ///< existed before the step
    bool of_optimizer = false;  ///< used by an operator of the optimizer
    bool in_forward = false;
    std::set<std::uint32_t> steps;
};

class Builder {
public:
    Builder(Table& operators, Table& tensors) : operators_(operators), tensors_(tensors) {}

    TensorUses take() {
        read_tensors();
        read_operators();
        if (problems_.empty() && schedule_.steps.empty())
            problems_.push_back({"operators", "", "are none; expected a traced step"});
        for (const Table* table : {&operators_, &tensors_})
            problems_.insert(problems_.end(), table->problems().begin(), table->problems().end());
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        make_items();
        count_copies(schedule_);
        return std::move(schedule_);
    }

private:
    void read_tensors() {
        for (const Table::Row& row : tensors_.rows()) {
            const std::uint64_t storage = tensors_.count(row, "TensorStorgeid");
            const std::uint64_t bytes =
                tensors_.count(row, "TensorNumElement") * tensors_.count(row, "TensorEachByte");
            storage_of_[tensors_.count(row, "TensorID")] = storage;
            storages_[storage].bytes = std::max(storages_[storage].bytes, bytes);
        }
    }

    std::optional<UseKind> kind_of(const Table::Row& row) {
        const std::string& stage = operators_.cell(row, "stage");
        if (stage == "forward")
            return UseKind::kForward;
        if (stage == "backward")
            return UseKind::kBackward;
        if (stage == "optimizer")
            return UseKind::kUpdate;
        operators_.fail(
            row.line,
            fmt::format("stage is \"{}\"; expected forward, backward or optimizer", stage));
        return {};
    }

    /// Storages listed as "[4; 6]", except those without bytes.
    std::vector<std::uint64_t> storages(const Table::Row& row, const char* column) {
        std::string text = operators_.cell(row, column);
        std::vector<std::uint64_t> found;
        if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
            operators_.fail(
                row.line, fmt::format("{} is \"{}\"; expected \"[4; 6]\"", column, text));
            return found;
        }
        text = text.substr(1, text.size() - 2);
        if (text.empty())
            return found;
        for (std::string id : split_text(text, ';')) {
            id.erase(0, id.find_first_not_of(' '));
            const auto tensor = parse_count(id);
            const auto storage = tensor ? storage_of_.find(*tensor) : storage_of_.end();
            if (storage == storage_of_.end())
                operators_.fail(
                    row.line,
                    fmt::format("{} names tensor {}; expected one of the other table", column, id));
            else if (storages_[storage->second].bytes > 0)
                found.push_back(storage->second);
        }
        return found;
    }

    void read_operators() {
        for (const Table::Row& row : operators_.rows()) {
            const auto kind = kind_of(row);
            const std::string& name = operators_.cell(row, "OperatorName");
            const std::vector<std::uint64_t> read = storages(row, "Operator_input");
            std::vector<std::uint64_t> written = storages(row, "Operator_output");
            const std::uint64_t time = operators_.count(row, "Operator_cudatime");
            if (!kind)
                continue;
            // In-place operators on lists of tensors write what they read.
            if (written.empty() && name.ends_with('_'))
                written = read;
            open(read, written, *kind);
            schedule_.steps.push_back({name, *kind, static_cast<double>(time) * 1e-6});
        }
    }

    void open(
        const std::vector<std::uint64_t>& read, const std::vector<std::uint64_t>& written,
        UseKind kind) {
        const auto step = static_cast<std::uint32_t>(schedule_.steps.size());
        const auto touch = [&](std::uint64_t id, bool writes) {
            Storage& storage = storages_[id];
            storage.read_first = storage.read_first || (!writes && !storage.written);
            storage.written = storage.written || writes;
            storage.of_optimizer = storage.of_optimizer || kind == UseKind::kUpdate;
            storage.in_forward = storage.in_forward || kind == UseKind::kForward;
            storage.steps.insert(step);
            writes_[{step, id}] = writes_[{step, id}] || writes;
        };
        for (const std::uint64_t id : read)
            touch(id, false);
        for (const std::uint64_t id : written)
            touch(id, true);
    }

    void make_items() {
        // The first operator reads the input; other storages from before the step stay.
        for (const auto& [id, storage] : storages_) {
            if (storage.steps.empty())
                continue;
            const bool input = storage.read_first && !storage.written &&
                               *storage.steps.begin() == 0 && !storage.of_optimizer;
            if (storage.of_optimizer || (storage.read_first && !input)) {
                schedule_.resident_bytes += storage.bytes;
                continue;
            }
            MemoryItem item{fmt::format("storage {}", id)};
            item.bytes = storage.bytes;
            item.kind = storage.in_forward ? MemoryClass::kActivations : MemoryClass::kWorkspace;
            item.scratch = storage.steps.size() == 1;
            if (item.scratch)
                item.kind = MemoryClass::kWorkspace;
            const auto index = static_cast<std::uint32_t>(schedule_.items.size());
            for (const std::uint32_t step : storage.steps)
                schedule_.steps[step].open.push_back({index, writes_.at({step, id})});
            schedule_.items.push_back(std::move(item));
        }
    }

    Table& operators_;
    Table& tensors_;
    std::map<std::uint64_t, std::uint64_t> storage_of_;  ///< by tensor
    std::map<std::uint64_t, Storage> storages_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, bool> writes_;  ///< by step and storage
    std::vector<Problem> problems_;
    TensorUses schedule_;
};

}  // namespace

TensorUses parse_operator_schedule(
    std::string_view operators, std::string_view tensors, const std::string& label) {
    Table steps(
        operators, label,
        {"OperatorName", "Operator_input", "Operator_output", "Operator_cudatime", "stage"});
    Table items(
        tensors, label + " (tensors)",
        {"TensorID", "TensorNumElement", "TensorEachByte", "TensorStorgeid"});
    if (!steps.problems().empty() || !items.problems().empty()) {
        std::vector<Problem> problems = steps.problems();
        problems.insert(problems.end(), items.problems().begin(), items.problems().end());
        throw ConfigError(std::move(problems));
    }
    TensorUses schedule = Builder(steps, items).take();
    schedule.name = label;
    return schedule;
}

TensorUses read_operator_schedule(
    const std::filesystem::path& operators, const std::filesystem::path& tensors) {
    return parse_operator_schedule(
        read_text(WholeFile(operators).path()), read_text(WholeFile(tensors).path()),
        operators.string());
}

}  // namespace switchfold
