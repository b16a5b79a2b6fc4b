// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/rocprof/tables.h"

#include <algorithm>

namespace switchfold::rocprof {

namespace {

constexpr std::uint64_t kAnyNumber = UINT64_MAX;

template <class Table, class Key>
typename Table::mapped_type listed_in(const Table& table, const Key& key) {
    const auto found = table.find(key);
    return found == table.end() ? typename Table::mapped_type() : found->second;
}

}  // namespace

std::uint64_t handle_in(const JsonFields& record, const char* key) {
    return record.object(key).whole("handle", kAnyNumber);
}

void Tables::read_agent(std::uint64_t process, const JsonFields& fields) {
    constexpr std::uint64_t kGpu = 2;  // rocprofiler_agent_type_t
    Agent agent;
    agent.gpu = fields.whole_if_any("type", kAnyNumber) == kGpu;
    agent.name = fields.text_if_any("product_name");
    if (agent.name.empty())
        agent.name = fields.text_if_any("name");
    agent.compute_units =
        static_cast<std::uint32_t>(fields.whole_if_any("cu_count", UINT32_MAX).value_or(0));
    agent.node = fields.whole_if_any("node_id", kAnyNumber).value_or(0);
    for (const JsonFields& bank : fields.objects("mem_banks"))
        agent.memory_bytes = std::max(
            agent.memory_bytes, bank.whole_if_any("size_in_bytes", kAnyNumber).value_or(0));
    agents_[{process, handle_in(fields, "id")}] = std::move(agent);
}

void Tables::read_symbol(std::uint64_t process, const JsonFields& fields) {
    const auto id = fields.whole_if_any("kernel_id", kAnyNumber);
    if (!id)
        return;
    Symbol symbol;
    for (const char* key : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"})
        if (symbol.name.empty())
            symbol.name = fields.text_if_any(key);
    constexpr std::string_view kOfDescriptor = ".kd";
    if (symbol.name.ends_with(kOfDescriptor))
        symbol.name.resize(symbol.name.size() - kOfDescriptor.size());
    symbol.registers = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        UINT32_MAX, fields.whole_if_any("arch_vgpr_count", UINT32_MAX).value_or(0) +
                        fields.whole_if_any("accum_vgpr_count", UINT32_MAX).value_or(0)));
    symbols_[{process, *id}] = std::move(symbol);
}

void Tables::read_names(std::uint64_t process, const JsonFields& kind) {
    std::vector<std::string>& names = names_[process].emplace_back();
    const Json* const operations = kind.find("operations");
    if (operations != nullptr && operations->is_array())
        for (const Json& operation : *operations)
            names.push_back(operation.is_string() ? operation.get<std::string>() : "");
}

void Tables::read_message(std::uint64_t process, const JsonFields& message) {
    if (const auto key = message.whole_if_any("key", kAnyNumber))
        messages_[{process, *key}] = message.text_if_any("value");
}

Agent Tables::agent(std::uint64_t process, std::uint64_t handle) const {
    return listed_in(agents_, std::pair(process, handle));
}

Symbol Tables::symbol(std::uint64_t process, std::uint64_t kernel) const {
    return listed_in(symbols_, std::pair(process, kernel));
}

std::string Tables::operation(std::uint64_t process, const JsonFields& record) const {
    const auto names = names_.find(process);
    const std::uint64_t kind = record.whole("kind", kAnyNumber);
    const std::uint64_t operation = record.whole("operation", kAnyNumber);
    if (names == names_.end() || kind >= names->second.size() ||
        operation >= names->second[kind].size())
        return {};
    return names->second[kind][operation];
}

std::string Tables::message(std::uint64_t process, std::uint64_t correlation) const {
    return listed_in(messages_, std::pair(process, correlation));
}

}  // namespace switchfold::rocprof
