// SPDX-License-Identifier: Apache-2.0
#include "training/network/zoo/zoo.h"

#include "training/network/zoo/families.h"

#include <array>

namespace switchfold {

namespace {

using Family = std::span<const zoo::Entry> (*)();

constexpr std::array<Family, 16> kFamilies{
    zoo::alexnets,        zoo::vggs,         zoo::resnets,      zoo::inception_v3,
    zoo::inception_v4,    zoo::densenets,    zoo::unets,        zoo::gnmts,
    zoo::recurrent,       zoo::decoders,     zoo::encoders,     zoo::transformers,
    zoo::fully_connected, zoo::autoencoders, zoo::recommenders, zoo::compounds};

}  // namespace

std::vector<std::string_view> network_names() {
    std::vector<std::string_view> names;
    for (const Family family : kFamilies)
        for (const zoo::Entry& entry : family())
            names.push_back(entry.name);
    return names;
}

std::optional<Network> find_network(std::string_view name) {
    for (const Family family : kFamilies)
        for (const zoo::Entry& entry : family())
            if (entry.name == name)
                return entry.make();
    return std::nullopt;
}

}  // namespace switchfold
