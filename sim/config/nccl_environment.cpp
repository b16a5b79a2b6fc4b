// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nccl_environment.h"

#include "core/error.h"
#include "core/named_path.h"
#include "core/text_cells.h"
#include "models/collectives/choice/nccl_words.h"
#include "models/collectives/choice/tuner_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <string_view>

namespace switchfold {

namespace {

/// A variable that changes what is simulated, with what it says. One that is a number of its own
/// has its bounds here, and may stand for a parameter.
struct Variable {
    std::string_view name;
    std::string_view expected;
    std::uint64_t least = 0;
    std::uint64_t most = 0;  ///< 0: no number of its own
    std::uint64_t step = 1;
    std::string_view pointer = {};
    [[nodiscard]] bool is_bytes() const { return name.ends_with("SIZE"); }
};
constexpr std::string_view kChannelsExpected = "a whole number from 1 to 64";
constexpr std::string_view kBufferExpected = "bytes from 4096 to 67108864";
constexpr std::uint64_t kMostBuffer = 64U << 20U;
constexpr std::array kVariables{
    Variable{
        "NCCL_ALGO",
        "algorithms such as \"Ring,Tree\", \"^NVLS\", \"allreduce:tree;broadcast:ring\""},
    Variable{"NCCL_PROTO", "protocols such as \"LL,Simple\" or \"^LL128\""},
    Variable{"NCCL_MIN_CTAS", kChannelsExpected, 1, 64},
    Variable{"NCCL_MAX_CTAS", kChannelsExpected, 1, 64},
    Variable{"NCCL_MIN_NCHANNELS", kChannelsExpected, 1, 64},
    Variable{"NCCL_MAX_NCHANNELS", kChannelsExpected, 1, 64},
    Variable{"NCCL_NVLS_ENABLE", "0, 1 or 2", 0, 2},
    Variable{"NCCL_COLLNET_ENABLE", "0 or 1", 0, 1},
    Variable{
        "NCCL_BUFFSIZE", kBufferExpected, 4096, kMostBuffer, 1,
        "/system/collectives/simple_buffer"},
    Variable{
        "NCCL_LL_BUFFSIZE", kBufferExpected, 4096, kMostBuffer, 1, "/system/collectives/ll_buffer"},
    Variable{
        "NCCL_LL128_BUFFSIZE", kBufferExpected, 4096, kMostBuffer, 1,
        "/system/collectives/ll128_buffer"},
    Variable{
        "NCCL_NTHREADS", "64, 128, 256 or 512", 64, 512, 64, "/system/collectives/simple/threads"},
    Variable{
        "NCCL_LL128_NTHREADS", "a multiple of 32 from 64 to 640", 64, 640, 32,
        "/system/collectives/ll128/threads"},
    Variable{
        "NCCL_NVLS_NCHANNELS", kChannelsExpected, 1, 64, 1,
        "/system/collectives/in_switch_channels"},
    Variable{
        "NCCL_NVLS_CHUNKSIZE", "bytes from 1024 to 16777216", 1024, 16U << 20U, 1,
        "/system/collectives/in_switch_chunk"},
    Variable{"NCCL_TUNER_CONFIG_FILE", "the path of a tuner's table"}};

/// Others that an engineer may have set, and what says the same here.
struct Elsewhere {
    std::string_view name;
    std::string_view instead;
};
constexpr std::array kElsewhere{
    Elsewhere{"NCCL_P2P_DISABLE", "a topology whose GPUs meet at the host (switchfold new system)"},
    Elsewhere{"NCCL_P2P_LEVEL", "a topology whose GPUs meet where they may"},
    Elsewhere{"NCCL_P2P_USE_CUDA_MEMCPY", "kernels copy_engine in the policy"},
    Elsewhere{"NCCL_SHM_DISABLE", "a topology whose GPUs meet at the network"},
    Elsewhere{"NCCL_IB_DISABLE", "the network of /system/topology"},
    Elsewhere{"NCCL_IB_HCA", "the network interfaces of /system/topology"},
    Elsewhere{"NCCL_SOCKET_IFNAME", "the network of /system/topology"},
    Elsewhere{"NCCL_NET_GDR_LEVEL", "the network interfaces of /system/topology"},
    Elsewhere{"NCCL_TOPO_FILE", "switchfold new system --nccl-topology FILE"},
    Elsewhere{"NCCL_DEBUG", "switchfold describe, which prints NCCL's choices"},
    Elsewhere{"NCCL_DEBUG_SUBSYS", "switchfold describe, which prints NCCL's choices"},
    Elsewhere{
        "NCCL_TUNER_PLUGIN", "NCCL_TUNER_CONFIG_FILE, a table as the example plugin reads it"},
    Elsewhere{"NCCL_CTA_POLICY", "max_ctas of the scenario, or kernels copy_engine"},
    Elsewhere{"NCCL_WIN_ENABLE", "kernels symmetric in the policy"}};

struct AlgorithmWord {
    std::string_view name;
    std::uint32_t bits;
};
constexpr std::uint32_t bit(Algorithm algorithm) {
    return 1U << static_cast<std::uint32_t>(algorithm);
}
constexpr std::uint32_t bit(Protocol protocol) {
    return 1U << static_cast<std::uint32_t>(protocol);
}
constexpr std::array kAlgorithmWords{
    AlgorithmWord{"tree", bit(Algorithm::kTree)},
    AlgorithmWord{"ring", bit(Algorithm::kRing)},
    AlgorithmWord{"collnet", bit(Algorithm::kCollnet)},
    AlgorithmWord{"collnetdirect", bit(Algorithm::kCollnet)},
    AlgorithmWord{"collnetchain", 0},
    AlgorithmWord{"nvls", bit(Algorithm::kInSwitch) | bit(Algorithm::kInSwitchRing)},
    AlgorithmWord{"nvlstree", bit(Algorithm::kInSwitchTree)},
    AlgorithmWord{"pat", 0}};
constexpr std::array kProtocolWords{
    AlgorithmWord{"ll", bit(Protocol::kLl)}, AlgorithmWord{"ll128", bit(Protocol::kLl128)},
    AlgorithmWord{"simple", bit(Protocol::kSimple)}};
std::string lower_of(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(
        lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

/// A list such as "Ring,Tree" or "^NVLS" as bits. \returns the word that is none, if there is one.
template <std::size_t N>
std::string
read_list(std::string_view text, const std::array<AlgorithmWord, N>& known, std::uint32_t& bits) {
    const bool without = text.starts_with('^');
    if (without)
        text.remove_prefix(1);
    std::uint32_t named = 0;
    for (const std::string& part : split_text(text, ',')) {
        const std::string word = lower_of(part);
        const auto at = std::ranges::find(known, word, &AlgorithmWord::name);
        if (at == known.end())
            return std::string(part);
        named |= at->bits;
    }
    bits = without ? ~named : named;
    return {};
}

template <std::size_t N>
std::vector<std::string_view> names_of(const std::array<AlgorithmWord, N>& known) {
    std::vector<std::string_view> names;
    for (const AlgorithmWord& word : known)
        names.push_back(word.name);
    return names;
}

/// Of a list with a word that is none of its kind.
std::string unknown(const std::string& word, const std::vector<std::string_view>& known) {
    return fmt::format(
        ", where \"{}\" is not one of {}{}", word, fmt::join(known, ", "),
        did_you_mean(lower_of(word), known));
}

/// Several scenarios may name the same table.
void note_once(const std::string& note, std::vector<std::string>& notes) {
    if (!note.empty() && std::ranges::find(notes, note) == notes.end())
        notes.push_back(note);
}

}  // namespace

void read_value(const Cursor& c, NcclEnvironment& out) {
    out = {};
    if (!c.value->is_object()) {
        fail_type(c, "an object of NCCL's environment variables");
        return;
    }
    for (const auto& entry : c.value->items()) {
        // clang 14 lets no lambda capture a structured binding.
        const std::string& name = entry.key();
        const auto& value = entry.value();
        const Cursor at = c.child(name, value);
        const auto known = std::ranges::find(kVariables, name, &Variable::name);
        if (known == kVariables.end()) {
            const auto elsewhere = std::ranges::find(kElsewhere, name, &Elsewhere::name);
            std::vector<std::string_view> names;
            for (const Variable& variable : kVariables)
                names.push_back(variable.name);
            at.fail(
                elsewhere != kElsewhere.end()
                    ? fmt::format(
                          "does not change what is simulated; expected {} instead",
                          elsewhere->instead)
                    : fmt::format(
                          "is not a variable that changes what is simulated{}; expected one of: {}",
                          did_you_mean(name, names), fmt::join(names, ", ")));
            continue;
        }
        std::string text;
        if (value.is_string())
            text = value.get<std::string>();
        else if (value.is_number_unsigned())
            text = std::to_string(value.get<std::uint64_t>());
        const auto wrong = [&](std::string_view more) {
            at.fail(fmt::format("is {}{}; expected {}", shown(value), more, known->expected));
        };
        if (text.empty()) {
            wrong("");
            continue;
        }
        out.written_[name] = text;
        const std::uint64_t number = parse_count(text).value_or(known->most + 1);
        if (known->most != 0 &&
            (number < known->least || number > known->most || number % known->step != 0 ||
             (name == "NCCL_NTHREADS" && !std::has_single_bit(number)))) {
            wrong("");
            continue;
        }
        if (name == "NCCL_ALGO") {
            // As a whole, or by function: "allreduce:tree,ring;broadcast:ring".
            for (const std::string& part : split_text(text, ';')) {
                const std::size_t colon = part.find(':');
                std::optional<CollectiveKind> kind;
                std::string_view list = part;
                if (colon != std::string_view::npos) {
                    const std::string function = lower_of(part.substr(0, colon));
                    const auto of = std::ranges::find(
                        kNcclFunctions, function, [](const auto& pair) { return pair.first; });
                    if (of == kNcclFunctions.end()) {
                        std::vector<std::string_view> functions;
                        for (const auto& [known_function, its_kind] : kNcclFunctions)
                            functions.push_back(known_function);
                        wrong(fmt::format(
                            ", where \"{}\" is not a function of NCCL{}", function,
                            did_you_mean(function, functions)));
                        break;
                    }
                    kind = of->second;
                    list = part.substr(colon + 1);
                }
                std::uint32_t bits = 0;
                if (const std::string word = read_list(list, kAlgorithmWords, bits); !word.empty())
                    wrong(unknown(word, names_of(kAlgorithmWords)));
                else if (bits == 0)
                    wrong(", of which nothing is simulated (PAT and CollNetChain are not)");
                else
                    out.algorithms_.emplace_back(kind, bits);
            }
        } else if (name == "NCCL_PROTO") {
            std::uint32_t bits = 0;
            if (const std::string word = read_list(text, kProtocolWords, bits); !word.empty())
                wrong(unknown(word, names_of(kProtocolWords)));
            else
                out.protocols_.emplace_back(std::nullopt, bits);
        } else if (name == "NCCL_MIN_CTAS" || name == "NCCL_MIN_NCHANNELS") {
            out.least_channels_ = static_cast<std::uint32_t>(number);
        } else if (name == "NCCL_MAX_CTAS") {
            out.most_blocks_ = static_cast<std::uint32_t>(number);
        } else if (name == "NCCL_MAX_NCHANNELS") {
            out.most_channels_ = static_cast<std::uint32_t>(number);
        } else if (name == "NCCL_NVLS_ENABLE") {
            if (number == 0)
                out.algorithms_.emplace_back(
                    std::nullopt, ~(bit(Algorithm::kInSwitch) | bit(Algorithm::kInSwitchTree) |
                                    bit(Algorithm::kInSwitchRing)));
        } else if (name == "NCCL_COLLNET_ENABLE") {
            if (number == 0)
                out.algorithms_.emplace_back(std::nullopt, ~bit(Algorithm::kCollnet));
        } else if (name == "NCCL_TUNER_CONFIG_FILE") {
            try {
                out.tuner_ = std::make_shared<const TunerTable>(path_named_in(c.file, text));
                note_once(out.tuner_->passed_over(), c.state->notes);
            } catch (const ConfigError& error) {
                c.state->problems.insert(
                    c.state->problems.end(), error.problems().begin(), error.problems().end());
            }
        }
    }
    if (out.most_channels_ != 0 && out.least_channels_ > out.most_channels_)
        c.fail(fmt::format(
            "asks for at least {} channels and at most {}; expected NCCL_MIN_NCHANNELS (or "
            "NCCL_MIN_CTAS) not above NCCL_MAX_NCHANNELS",
            out.least_channels_, out.most_channels_));
}

CollectivePolicies NcclEnvironment::applied_to(CollectivePolicies policies) const {
    if (empty())
        return policies;
    const auto words_of = [&](CollectiveKind kind) {
        NcclWords words;
        for (const auto& [only, bits] : algorithms_)
            if (!only || *only == kind)
                words.algorithms &= bits;
        for (const auto& [only, bits] : protocols_)
            words.protocols &= bits;
        words.least_channels = least_channels_;
        words.most_channels = most_channels_;
        words.tuner = tuner_;
        return words;
    };
    // A kind that follows all-reduces keeps doing so where the words are the same; of the rest each
    // says its own.
    if (!policies.all_reduce)
        policies.all_reduce.emplace();
    const auto apply = [&](std::optional<CollectivePolicy>& policy, CollectiveKind kind) {
        const NcclWords words = words_of(kind);
        if (!policy && words == words_of(CollectiveKind::kAllReduce))
            return;
        if (!policy) {
            policy = policies.all_reduce;
            policy->algorithm = Algorithm::kAuto;
        }
        policy->words = words;
    };
    for (const auto& [policy, kind] :
         {std::pair(&policies.reduce_scatter, CollectiveKind::kReduceScatter),
          std::pair(&policies.all_gather, CollectiveKind::kAllGather),
          std::pair(&policies.broadcast, CollectiveKind::kBroadcast),
          std::pair(&policies.reduce, CollectiveKind::kReduce),
          std::pair(&policies.all_reduce, CollectiveKind::kAllReduce)})
        apply(*policy, kind);
    for (auto* policy :
         {&policies.all_to_all, &policies.send_receive, &policies.gather, &policies.scatter})
        if (*policy)
            (*policy)->words = words_of(CollectiveKind::kAllToAll);
    if (most_blocks_ != 0)
        policies.most_blocks =
            policies.most_blocks == 0 ? most_blocks_ : std::min(policies.most_blocks, most_blocks_);
    return policies;
}

std::map<std::string, std::string> NcclEnvironment::values_of(const Json& written) {
    std::map<std::string, std::string> values;
    if (!written.is_object())
        return values;
    for (const Variable& variable : kVariables) {
        const auto found = written.find(std::string(variable.name));
        if (variable.pointer.empty() || found == written.end())
            continue;
        const auto number =
            parse_count(found->is_string() ? found->get<std::string>() : found->dump());
        if (!number)
            continue;
        // As JSON has it: a number of a job's script may begin with zeros.
        const std::string text = std::to_string(*number);
        values[std::string(variable.pointer)] = variable.is_bytes() ? "\"" + text + " B\"" : text;
        if (variable.name == "NCCL_NTHREADS")
            values["/system/collectives/ll/threads"] = text;
    }
    return values;
}

OrderedJson write_value(const NcclEnvironment& value) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [name, text] : value.written())
        out[name] = text;
    return out;
}

OrderedJson SchemaOf<NcclEnvironment>::make() {
    OrderedJson properties = OrderedJson::object();
    for (const Variable& variable : kVariables)
        properties[std::string(variable.name)] = {
            {"type", "string"}, {"description", std::string(variable.expected)}};
    return {
        {"title", "environment variables"},
        {"type", "object"},
        {"properties", properties},
        {"additionalProperties", false}};
}

}  // namespace switchfold
