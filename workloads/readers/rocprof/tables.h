// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/json_fields.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::rocprof {

/// An agent of ROCm: a GPU or a CPU.
struct Agent {
    bool gpu = false;
    std::string name;
    std::uint64_t memory_bytes = 0;
    std::uint32_t compute_units = 0;
    std::uint64_t node = 0;  ///< orders the GPUs of a machine
};

/// A kernel as its code object describes it.
struct Symbol {
    std::string name;
    std::uint32_t registers = 0;  ///< vector registers of a work item
};

/// What the records of a file refer to by number, process by process.
class Tables {
public:
    void read_agent(std::uint64_t process, const JsonFields& agent);
    void read_symbol(std::uint64_t process, const JsonFields& symbol);
    /// {"kind": "HIP_RUNTIME_API", "operations": ["hipApiName", ...]}; records name both by index.
    void read_names(std::uint64_t process, const JsonFields& kind);
    /// The text of a roctx range, by the range's correlation.
    void read_message(std::uint64_t process, const JsonFields& message);

    /// Without a name if the file does not list it.
    [[nodiscard]] Agent agent(std::uint64_t process, std::uint64_t handle) const;
    [[nodiscard]] Symbol symbol(std::uint64_t process, std::uint64_t kernel) const;
    /// The function that the record is a call of; empty if the file does not name it.
    [[nodiscard]] std::string operation(std::uint64_t process, const JsonFields& record) const;
    /// Empty if there is none.
    [[nodiscard]] std::string message(std::uint64_t process, std::uint64_t correlation) const;

private:
    /// Process and number.
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    std::map<Key, Agent> agents_;
    std::map<Key, Symbol> symbols_;
    std::map<Key, std::string> messages_;
    std::map<std::uint64_t, std::vector<std::vector<std::string>>>
        names_;  ///< by process, kind and operation
};

/// The number in {"handle": 5} or the like, at `key`.
[[nodiscard]] std::uint64_t handle_in(const JsonFields& record, const char* key);

}  // namespace switchfold::rocprof
