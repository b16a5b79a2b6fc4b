// SPDX-License-Identifier: Apache-2.0
#include "training/learning/data/text_sentences.h"

#include "core/random_stream.h"

#include <array>
#include <string_view>

namespace switchfold::learning {

namespace {

constexpr std::array<std::string_view, 8> kNouns{"switch", "link",   "packet", "kernel",
                                                 "rank",   "buffer", "stream", "bucket"};
constexpr std::array<std::string_view, 6> kAdjectives{"slow",   "late", "full",
                                                      "narrow", "idle", "small"};
constexpr std::array<std::string_view, 8> kVerbs{"wait", "send", "drop",   "see",
                                                 "hold", "need", "follow", "fill"};

class Grammar {
public:
    explicit Grammar(std::uint64_t seed) : random_(seed, "sentences") {}

    std::string sentence() {
        const bool many = one_of(2) == 0;
        std::string text = noun_phrase(many);
        if (one_of(3) == 0)
            text += " that " + clause(many);
        return text + " " + clause(many) + ". ";
    }

private:
    std::size_t one_of(std::size_t count) { return random_.below(count); }

    std::string noun_phrase(bool many) {
        std::string text = many ? "the " : "a ";
        if (one_of(2) == 0)
            text += std::string(kAdjectives[one_of(kAdjectives.size())]) + " ";
        const std::string_view noun = kNouns[one_of(kNouns.size())];
        text += noun;
        if (many)
            text += noun.ends_with("ch") ? "es" : "s";
        return text;
    }
    /// A verb that agrees with its subject, and its object.
    std::string clause(bool many) {
        std::string text(kVerbs[one_of(kVerbs.size())]);
        if (!many)
            text += "s";
        return text + (text.starts_with("wait") ? " for " : " ") + noun_phrase(one_of(2) == 0);
    }

    RandomStream random_;
};

}  // namespace

std::string sentences(std::size_t characters, std::uint64_t seed) {
    Grammar grammar(seed);
    std::string text;
    while (text.size() < characters)
        text += grammar.sentence();
    return text;
}

}  // namespace switchfold::learning
