// SPDX-License-Identifier: Apache-2.0
#include "core/record_python.h"

#include <fmt/format.h>

namespace switchfold {

std::string PythonTypes::name_of(std::string_view written) {
    // "... [with T = switchfold::StatisticTable::Column; ...]"
    const std::size_t from = written.find("T = ") + std::string_view("T = ").size();
    written = written.substr(from, written.find_first_of(";]", from) - from);
    std::string name;
    while (!written.empty()) {
        const std::size_t to = std::min(written.find("::"), written.size());
        const std::string_view part = written.substr(0, to);
        // Namespaces are not in capitals.
        if (part.front() >= 'A' && part.front() <= 'Z')
            name += part;
        written.remove_prefix(std::min(to + 2, written.size()));
    }
    constexpr std::string_view kResult = "Result";
    if (name.ends_with(kResult) && name.size() > kResult.size())
        name.resize(name.size() - kResult.size());
    return name;
}

void PythonTypes::write(const std::string& name, const PythonRecord& record) {
    const auto dictionary = [&](const std::string& of, const auto& members) {
        std::string text = fmt::format("{} = TypedDict(\"{}\", {{\n", of, of);
        for (const auto& [key, type] : members)
            text += fmt::format("    \"{}\": {},\n", key, type);
        return text + "})\n";
    };
    if (record.if_any.empty()) {
        text_ += "\n" + dictionary(name, record.always);
        return;
    }
    const std::string always = "_" + name;
    text_ += "\n" + dictionary(always, record.always);
    text_ += fmt::format("\n\nclass {}({}, total=False):\n", name, always);
    for (const auto& [key, type] : record.if_any)
        text_ += fmt::format("    {}: {}\n", key, type);
    text_ += "\n";
}

}  // namespace switchfold
