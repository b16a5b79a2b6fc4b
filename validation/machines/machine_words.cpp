// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/machine_words.h"

#include "core/text.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <regex>

namespace switchfold::validation {

namespace {

/// A machine known by name.
struct NamedMachine {
    std::string_view pattern;  ///< of upper-case text
    std::string_view gpu;
    NodeLinks links;
    NetworkKind network;
    double network_Gbps;  ///< per NIC; 0: unknown
};

// From the providers' pages on machine types. Longer names precede shorter ones that they contain.
constexpr std::array kNamed{
    NamedMachine{R"(\bP3DN\b)", "V100", NodeLinks::kNvlinkMesh, NetworkKind::kEfa, 100},
    NamedMachine{R"(\bP3\.\d+XLARGE)", "V100", NodeLinks::kNvlinkMesh, NetworkKind::kEthernet, 0},
    NamedMachine{R"(\bP4DE?\b)", "A100", NodeLinks::kNvswitch, NetworkKind::kEfa, 100},
    NamedMachine{R"(\bP5EN\b)", "H200", NodeLinks::kNvswitch, NetworkKind::kEfa, 200},
    NamedMachine{R"(\bP5E\b)", "H200", NodeLinks::kNvswitch, NetworkKind::kEfa, 100},
    NamedMachine{R"(\bP5\b)", "H100", NodeLinks::kNvswitch, NetworkKind::kEfa, 100},
    NamedMachine{R"(\bP6-B200\b)", "B200", NodeLinks::kNvswitch, NetworkKind::kEfa, 400},
    NamedMachine{R"(\bP6E-GB200\b)", "GB200", NodeLinks::kNvswitch, NetworkKind::kEfa, 400},
    NamedMachine{
        R"(\bA2-(HIGH|ULTRA|MEGA)GPU)", "A100", NodeLinks::kNvswitch, NetworkKind::kEthernet, 0},
    NamedMachine{R"(\bA3[- ]?MEGA(GPU)?)", "H100", NodeLinks::kNvswitch, NetworkKind::kTcpxo, 200},
    NamedMachine{R"(\bA3[- ]?HIGH(GPU)?)", "H100", NodeLinks::kNvswitch, NetworkKind::kTcpx, 200},
    NamedMachine{R"(\bA3[- ]?ULTRA(GPU)?)", "H200", NodeLinks::kNvswitch, NetworkKind::kRoce, 400},
    NamedMachine{R"(\bA4[- ]?HIGH(GPU)?)", "B200", NodeLinks::kNvswitch, NetworkKind::kRoce, 400},
    NamedMachine{
        R"((\b|_)ND96A(M?S|S?R)\w*_?V4|\bND ?A100 ?V4)", "A100", NodeLinks::kNvswitch,
        NetworkKind::kInfiniband, 200},
    NamedMachine{
        R"((\b|_)ND96ISR_H100|\bND ?H100 ?V5)", "H100", NodeLinks::kNvswitch,
        NetworkKind::kInfiniband, 400},
    NamedMachine{
        R"((\b|_)ND96ISR_H200|\bND ?H200 ?V5)", "H200", NodeLinks::kNvswitch,
        NetworkKind::kInfiniband, 400},
    NamedMachine{
        R"((\b|_)ND96IS\w*_MI300X|\bND ?MI300X ?V5)", "MI300X", NodeLinks::kXgmi,
        NetworkKind::kInfiniband, 400},
    NamedMachine{R"(\bND40RS)", "V100", NodeLinks::kNvlinkMesh, NetworkKind::kInfiniband, 100},
    NamedMachine{
        R"(\bBM\.GPU4\.8|\bBM\.GPU\.A100)", "A100", NodeLinks::kNvswitch, NetworkKind::kRoce, 100},
    NamedMachine{R"(\bBM\.GPU\.B4\.8)", "A100", NodeLinks::kNvswitch, NetworkKind::kRoce, 100},
    NamedMachine{R"(\bBM\.GPU\.H100)", "H100", NodeLinks::kNvswitch, NetworkKind::kRoce, 400},
    NamedMachine{R"(\bBM\.GPU\.H200)", "H200", NodeLinks::kNvswitch, NetworkKind::kRoce, 400},
    NamedMachine{R"(\bBM\.GPU\.B200)", "B200", NodeLinks::kNvswitch, NetworkKind::kRoce, 400},
    NamedMachine{R"(\bBM\.GPU\.MI300X)", "MI300X", NodeLinks::kXgmi, NetworkKind::kRoce, 400},
    NamedMachine{
        R"(\bDGX[- ]?1V?\b)", "V100", NodeLinks::kNvlinkMesh, NetworkKind::kInfiniband, 100},
    NamedMachine{R"(\bDGX[- ]?2H?\b)", "V100", NodeLinks::kNvswitch, NetworkKind::kInfiniband, 100},
    NamedMachine{R"(\bDGX[- ]?A100)", "A100", NodeLinks::kNvswitch, NetworkKind::kInfiniband, 200},
    NamedMachine{R"(\bDGX[- ]?H100)", "H100", NodeLinks::kNvswitch, NetworkKind::kInfiniband, 400},
    NamedMachine{R"(\bDGX[- ]?H200)", "H200", NodeLinks::kNvswitch, NetworkKind::kInfiniband, 400},
    NamedMachine{R"(\bDGX[- ]?B200)", "B200", NodeLinks::kNvswitch, NetworkKind::kInfiniband, 400},
    NamedMachine{R"(\bTINYBOX GREEN)", "RTX4090", NodeLinks::kPcie, NetworkKind::kUnknown, 0},
};

/// \param pattern a literal of this file: compiled once, since that takes longer than a search
bool matches(const std::string& text, std::string_view pattern) {
    static std::map<std::string_view, std::regex> compiled;
    const auto [at, fresh] = compiled.try_emplace(pattern);
    if (fresh)
        at->second.assign(pattern.begin(), pattern.end());
    return std::regex_search(text, at->second);
}

/// The word that names the chip, without maker, family or memory.
std::string gpu_model(const std::string& text) {
    std::smatch found;
    static const std::regex kDataCentre(
        R"((?:^|[^A-Z0-9.])(GB|GH|MI|A|B|H|V|P|L|T|K)[ -]?(\d{1,3})([AXGS]?)(?![0-9A-Z]))");
    static const std::regex kConsumer(
        R"((?:RTX|GTX|GEFORCE|QUADRO)[ -]*(A|PRO )?(\d{4})[ -]*(TI|SUPER|ADA)?)");
    static const std::regex kWorkstation(R"(\b(A[45]\d00|A6000)\b)");
    static const std::regex kTitan(R"(\bTITAN ?(XP|X|V|RTX)\b)");
    if (std::regex_search(text, found, kTitan))
        return "TITAN" + found[1].str();
    if (std::regex_search(text, found, kConsumer)) {
        // RTX 6000, RTX A6000, RTX 6000 Ada and RTX PRO 6000 are four generations.
        const std::string family = found[1].str() == "PRO " ? "PRO" : found[1].str();
        return "RTX" + family + found[2].str() + found[3].str();
    }
    if (std::regex_search(text, found, kWorkstation))
        return "RTX" + found[1].str();
    for (auto at = std::sregex_iterator(text.begin(), text.end(), kDataCentre);
         at != std::sregex_iterator(); ++at) {
        const std::string model = (*at)[1].str() + (*at)[2].str() + (*at)[3].str();
        // Names of cloud machines and their generations look like short GPU names ("A3 mega", "ND
        // v5"): a short name counts only if it is a known GPU.
        const bool short_name = (*at)[2].length() < 3;
        static const std::regex kKnownShort(R"(H20|A10G?|A16|A30|A40|GB10|L4|L40S?|T4|P40|K40)");
        if (short_name && !std::regex_match(model, kKnownShort))
            continue;
        // The pair of cards, not a rack ("NVL72").
        static const std::regex kPair(R"(^[ -]NVL(?! ?\d+(?![\d-]| ?GB)|[A-Z]))");
        const std::string rest = (*at).suffix().str();
        return std::regex_search(rest, kPair) ? model + "NVL" : model;
    }
    return {};
}

/// A size of memory, unless the text names several.
std::optional<std::uint32_t> gpu_memory(const std::string& text) {
    static const std::regex kSize(R"((?:^|[^\d.])(\d{2,3}) ?GB(?!/S|PS|IT|E))");
    std::optional<std::uint32_t> memory;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), kSize);
         at != std::sregex_iterator(); ++at) {
        const auto size = static_cast<std::uint32_t>(std::stoul((*at)[1].str()));
        if (memory && *memory != size)
            return {};
        memory = size;
    }
    return memory;
}

void read_links(const std::string& all, MachineWords& words) {
    // A card's name alone says nothing about a bridge between two cards.
    static const std::regex kCard(R"(([ABHLV]\d{2,3})[- ]*(\d{2,3} ?GB[- ]*)?PCI-?E)");
    const std::string text = std::regex_replace(all, kCard, "$1");
    const bool no_switch = matches(text, R"(\b(NO|WITHOUT|W/O) NVSWITCH(?! MULTICAST))");
    words.nvlink = matches(text, R"(NVLINK|\bNVL)");
    words.without_switch = no_switch;
    // Missing multicast in the driver does not imply a missing switch.
    const bool no_multicast = matches(text, R"(\b(NO|WITHOUT|W/O) NVSWITCH MULTICAST)");
    if (matches(text, R"(CUBE[- ]?MESH|FULL[- ]?MESH.*NVLINK|NVLINK.*FULL[- ]?MESH)") || no_switch)
        words.links = NodeLinks::kNvlinkMesh;
    else if (matches(text, R"((NVLINK|NVL|NV\d+)[- ]?BRIDGE|BRIDGED)"))
        words.links = NodeLinks::kNvlinkBridge;
    else if (matches(text, R"(XGMI|INFINITY FABRIC)"))
        words.links = NodeLinks::kXgmi;
    else if (matches(text, R"(\b(NO|WITHOUT|W/O) NVLINK)"))
        words.links = NodeLinks::kPcie;
    else if (
        matches(text, R"(NVSWITCH|\bHGX\b|\bNVL ?\d+\b)") && !no_multicast &&
        !matches(text, R"(H100 NVL)"))
        words.links = NodeLinks::kNvswitch;
    if (words.links == NodeLinks::kUnknown && matches(text, R"(PCI-?E|PCI EXPRESS)") &&
        !matches(text, R"(NVLINK|SXM)"))
        words.links = NodeLinks::kPcie;
}

void read_network(const std::string& text, MachineWords& words) {
    struct Named {
        std::string_view pattern;
        NetworkKind network;
    };
    constexpr std::array kNetworks{
        Named{R"(TCPXO|FASTRAK)", NetworkKind::kTcpxo},
        Named{R"(TCPX|TCP-X)", NetworkKind::kTcpx},
        Named{R"(\bEFA)", NetworkKind::kEfa},
        Named{R"(ROCE)", NetworkKind::kRoce},
        Named{R"(INFINIBAND|\bIB\b|\b[EHNX]DR(200|400|800)?\b|QUANTUM)", NetworkKind::kInfiniband},
        Named{R"(SLINGSHOT)", NetworkKind::kSlingshot},
        Named{R"(ETHERNET|\bTCP\b|SOCKET|\d ?GBE\b)", NetworkKind::kEthernet}};
    for (const Named& named : kNetworks)
        if (matches(text, named.pattern)) {
            words.network = named.network;
            break;
        }
    // A switch between GPUs that reduces is "NVLink SHARP".
    words.network_reduces = matches(text, R"(\bSHARP\b)") && !matches(text, R"(NVLINK SHARP)");
    struct Rate {
        std::string_view pattern;
        double Gbps;
    };
    constexpr std::array kRates{Rate{R"(\bEDR\b)", 100},       Rate{R"(\bHDR100\b)", 100},
                                Rate{R"(\bHDR(200)?\b)", 200}, Rate{R"(\bNDR200\b)", 200},
                                Rate{R"(\bNDR(400)?\b)", 400}, Rate{R"(\bXDR\b)", 800}};
    for (const Rate& rate : kRates)
        if (matches(text, rate.pattern)) {
            words.network_Gbps = rate.Gbps;
            break;
        }
    std::smatch found;
    static const std::regex kOfNode(R"((\d{2,5}) ?G(B/S|BPS|BIT/S)[^,;(]* (A|PER|EACH) NODE\b)");
    if (words.network != NetworkKind::kUnknown && std::regex_search(text, found, kOfNode)) {
        words.node_Gbps = std::stod(found[1].str());
        return;
    }
    static const std::regex kWritten(R"((\d{2,3}) ?(GB/S|GBPS|GBIT/S|GBE|G\b))");
    // Ethernet rates are given in bits.
    static const std::regex kEthernet(R"((\d{1,3}) ?G(B/S|BPS|BIT/S)? ETHERNET)");
    if (!words.network_Gbps && std::regex_search(text, found, kEthernet))
        words.network_Gbps = std::stod(found[1].str());
    // GB/s with a capital B is a rate in bytes; only Gb/s, Gbps and the like name a NIC. The text
    // is upper case here, so rates written with "/s" are ignored.
    if (words.network != NetworkKind::kUnknown && !words.network_Gbps &&
        std::regex_search(text, found, kWritten) && found[2].str() != "GB/S")
        words.network_Gbps = std::stod(found[1].str());
}

void read_counts(const std::string& text, MachineWords& words) {
    std::smatch found;
    static const std::regex kNodes(
        R"((?:^|[^\d.])(\d{1,4}) ?(?:X (?=\S)|X(?=[A-Z]{2,}|P\d)|NODES?\b|HOSTS?\b|MACHINES?\b))");
    static const std::regex kPartitions(R"((\d{1,4}) NVL ?(\d+) PARTITIONS?)");
    static const std::regex kDomain(R"(\bNVL ?(\d+)\b)");
    if (std::regex_search(text, found, kPartitions))
        words.nodes = static_cast<std::uint32_t>(std::stoul(found[1].str()));
    else if (
        std::regex_search(text, found, kNodes) &&
        // "8x A100" counts GPUs, not machines.
        gpu_model(text.substr(0, static_cast<std::size_t>(found.position()))).empty() &&
        !matches(
            found.suffix().str().substr(0, 12),
            R"(^ ?(NVIDIA |AMD |TESLA )?(GB|GH|MI|[ABHVPL])\d{2,3}|^ ?(GPU|NIC|HDR|NDR|EFA|\d+ ?G))"))
        words.nodes = static_cast<std::uint32_t>(std::stoul(found[1].str()));
    static const std::regex kNics(
        R"((?:^|[^\d.])(\d{1,2}) ?X? ?(?:MELLANOX |\d{2,3} ?G[A-Z/]* )?([EHNX]DR\d*|CONNECTX|CX-?\d|NICS?\b|HCAS?\b))");
    if (std::regex_search(text, found, kNics))
        words.nics = static_cast<std::uint32_t>(std::stoul(found[1].str()));
    if (std::regex_search(text, found, kDomain))
        words.domain = static_cast<std::uint32_t>(std::stoul(found[1].str()));
}

void read_peer_to_peer(const std::string& text, MachineWords& words) {
    static constexpr const char* kNone =
        R"(P2P_DISABLE ?= ?1|P2P[ _]?(OFF|DISABLED)|(NO|WITHOUT|W/O) P2P|P2P (IS )?(NOT (AVAILABLE|SUPPORTED|POSSIBLE|ENABLED)|UNAVAILABLE))";
    if (matches(text, kNone) || matches(text, R"(THROUGH (THE )?HOST|VIA HOST|SHM)"))
        words.peer_to_peer = false;
    else if (matches(text, R"(P2P|PEER[- ]TO[- ]PEER)"))
        words.peer_to_peer = true;
}

/// Adds what a GPU's model implies: consumer cards exist only as PCIe cards, AMD's accelerators
/// only on boards with xGMI.
void complete_words(MachineWords& words) {
    if (!words.pcie && words.gpu.rfind("RTX", 0) == 0)
        words.pcie = true;
    // NVLink between cards is a bridge.
    if (words.pcie.value_or(false) && words.nvlink && words.links == NodeLinks::kUnknown)
        words.links = NodeLinks::kNvlinkBridge;
    if (words.gpu.rfind("RTX", 0) == 0 && words.links == NodeLinks::kUnknown)
        words.links = NodeLinks::kPcie;
    if (words.links == NodeLinks::kUnknown && words.gpu.rfind("MI3", 0) == 0)
        words.links = NodeLinks::kXgmi;
    if (!words.pcie && (words.links == NodeLinks::kNvswitch || words.links == NodeLinks::kXgmi ||
                        words.links == NodeLinks::kNvlinkMesh))
        words.pcie = false;
}

bool differ(NodeLinks a, NodeLinks b) {
    return a != NodeLinks::kUnknown && b != NodeLinks::kUnknown && a != b;
}

}  // namespace

MachineWords machine_words(std::string_view text) {
    const std::string all = upper(text);
    MachineWords words;
    words.gpu = gpu_model(all);
    words.memory_GB = gpu_memory(all);
    if (matches(all, R"(\bSXM\d?|\bOAM\b)"))
        words.pcie = false;
    else if (
        matches(
            all,
            R"((H100|A100|V100|H200|A800|H800)[- ]*(\d{2,3} ?GB[- ]*)?(PCI-?E|NVL\b)|(H100|A100|V100)[- ]*PCI)"))
        words.pcie = true;
    read_links(all, words);
    read_network(all, words);
    for (const NamedMachine& machine : kNamed) {
        if (!matches(all, machine.pattern))
            continue;
        if (words.gpu.empty())
            words.gpu = machine.gpu;
        if (words.links == NodeLinks::kUnknown)
            words.links = machine.links;
        if (words.network == NetworkKind::kUnknown)
            words.network = machine.network;
        if (words.network == machine.network && !words.network_Gbps && machine.network_Gbps > 0)
            words.network_Gbps = machine.network_Gbps;
        break;
    }
    read_counts(all, words);
    read_peer_to_peer(all, words);
    complete_words(words);
    return words;
}

std::string difference(const MachineWords& table, const MachineWords& system, bool several_nodes) {
    if (table.gpu != system.gpu)
        return fmt::format("the GPU is {}", system.gpu.empty() ? "unknown" : system.gpu);
    if (table.pcie && system.pcie && *table.pcie != *system.pcie)
        return *system.pcie ? "its GPUs are PCIe cards" : "its GPUs are no PCIe cards";
    if (differ(table.links, system.links))
        return fmt::format(
            "GPUs are joined by {}, not {}", to_string(system.links), to_string(table.links));
    if (table.peer_to_peer && system.peer_to_peer && *table.peer_to_peer != *system.peer_to_peer)
        return *system.peer_to_peer ? "its GPUs reach each other" : "its GPUs go through the host";
    if (table.domain && system.domain && *table.domain > *system.domain)
        return fmt::format("{} GPUs are one NVLink domain", *system.domain);
    if (several_nodes) {
        if (system.network == NetworkKind::kUnknown)
            return "it is one machine";
        if (table.network != NetworkKind::kUnknown && table.network != system.network)
            return fmt::format(
                "the network is {}, not {}", to_string(system.network), to_string(table.network));
        if (table.network_Gbps && system.network_Gbps &&
            *table.network_Gbps != *system.network_Gbps)
            return fmt::format(
                "a NIC has {} Gb/s, not {}", *system.network_Gbps, *table.network_Gbps);
        if (table.network_reduces != system.network_reduces)
            return system.network_reduces ? "its network reduces" : "its network does not reduce";
        if (table.node_Gbps && system.node_Gbps && *table.node_Gbps != *system.node_Gbps)
            return fmt::format("a node has {} Gb/s, not {}", *system.node_Gbps, *table.node_Gbps);
    }
    return {};
}

std::optional<int>
agreement(const MachineWords& table, const MachineWords& system, bool several_nodes) {
    if (!difference(table, system, several_nodes).empty())
        return std::nullopt;
    int score = 0;
    score += table.pcie && system.pcie ? 4 : 0;
    score += table.links != NodeLinks::kUnknown && system.links != NodeLinks::kUnknown ? 4 : 0;
    score += table.peer_to_peer && system.peer_to_peer ? 4 : 0;
    // A table that does not say how cards are connected means the usual board.
    score += !table.pcie && !system.pcie.value_or(true) ? 2 : 0;
    score += table.links == NodeLinks::kUnknown && system.links == NodeLinks::kPcie ? 1 : 0;
    // Boards without a switch are the exception and would be mentioned.
    score -= !table.nvlink && table.links == NodeLinks::kUnknown && system.without_switch ? 2 : 0;
    score += !table.peer_to_peer && !system.peer_to_peer.value_or(true) ? 1 : 0;
    score += table.domain && system.domain && *table.domain == *system.domain ? 2 : 0;
    // Half of the memory is the same GPU with slower memory: better than none. It tells nothing
    // about a network that is not stated.
    const bool network_known = !several_nodes || table.network != NetworkKind::kUnknown;
    score += network_known && table.memory_GB && table.memory_GB == system.memory_GB ? 2 : 0;
    if (several_nodes) {
        score += table.network != NetworkKind::kUnknown ? 4 : 0;
        score += table.network_Gbps && system.network_Gbps ? 2 : 0;
        // As many NICs as GPUs are usual; fewer would be mentioned.
        if (system.node_Gbps)
            score += table.node_Gbps ? 2 : -1;
        score +=
            table.network == NetworkKind::kUnknown && system.network == NetworkKind::kInfiniband;
    } else {
        // A single machine is best represented by a single-machine system.
        score += system.network == NetworkKind::kUnknown ? 8 : 0;
    }
    return score;
}

std::string_view to_string(NodeLinks links) {
    constexpr std::array<std::string_view, 6> kNames{
        "unknown links", "NVSwitch", "an NVLink mesh", "an NVLink bridge", "PCIe", "xGMI"};
    return kNames.at(static_cast<std::size_t>(links));
}

std::string_view to_string(NetworkKind network) {
    constexpr std::array<std::string_view, 8> kNames{
        "unknown", "InfiniBand", "RoCE", "EFA", "TCPX", "TCPXO", "Slingshot", "Ethernet"};
    return kNames.at(static_cast<std::size_t>(network));
}

}  // namespace switchfold::validation
