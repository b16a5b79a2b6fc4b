// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "models/collectives/choice/policies.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// NCCL's environment variables, as a scenario gives them: those that change what is simulated. The
/// others are refused by name.
class NcclEnvironment {
public:
    [[nodiscard]] bool empty() const { return written_.empty(); }
    [[nodiscard]] const std::map<std::string, std::string>& written() const { return written_; }
    /// What the policies become.
    [[nodiscard]] CollectivePolicies applied_to(CollectivePolicies policies) const;
    /// Values of the experiment that it replaces, by JSON pointer.
    [[nodiscard]] static std::map<std::string, std::string> values_of(const Json& written);
    bool operator==(const NcclEnvironment& other) const { return written_ == other.written_; }

    friend void read_value(const Cursor& c, NcclEnvironment& out);

private:
    /// Algorithms or protocols as bits, by kind of collective; none: for all.
    using Allowed = std::vector<std::pair<std::optional<CollectiveKind>, std::uint32_t>>;

    std::map<std::string, std::string> written_;
    Allowed algorithms_;
    Allowed protocols_;
    std::uint32_t least_channels_ = 0;
    std::uint32_t most_channels_ = 0;
    std::uint32_t most_blocks_ = 0;
    std::shared_ptr<const TunerTable> tuner_;
};
void read_value(const Cursor& c, NcclEnvironment& out);
[[nodiscard]] OrderedJson write_value(const NcclEnvironment& value);
template <>
struct SchemaOf<NcclEnvironment> {
    static OrderedJson make();
};

}  // namespace switchfold
