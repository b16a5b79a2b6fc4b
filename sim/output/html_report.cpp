// SPDX-License-Identifier: Apache-2.0
#include "sim/output/html_report.h"

#include "core/error.h"
#include "sim/output/report_assets.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace switchfold {

namespace {

/// Escapes text for HTML.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        default:
            out += c;
        }
    return out;
}

/// JSON that cannot close its script element: escapes the "<" of "</script>" and "<!--".
std::string for_script(const OrderedJson& data) {
    std::string out;
    for (const char c : data.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

std::string asset(std::string_view marker) {
    std::string name(marker);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    for (const ReportAsset& known : report_assets())
        if (known.name == name)
            return std::string(known.text);
    throw std::logic_error("the page of reports names the unknown part " + name);
}

}  // namespace

std::string html_report(const std::string& title, const OrderedJson& data) {
    if (const std::string why = report_assets_missing(); !why.empty())
        throw ConfigError("report", "", "cannot draw charts: " + why);
    std::string out;
    std::string page = asset("page");
    // Markers are capitals between @ signs.
    for (std::size_t at = 0; at < page.size();) {
        const std::size_t open = page.find('@', at);
        const std::size_t close = open == std::string::npos ? open : page.find('@', open + 1);
        if (close == std::string::npos) {
            out += page.substr(at);
            break;
        }
        out += page.substr(at, open - at);
        const std::string marker = page.substr(open + 1, close - open - 1);
        if (marker == "TITLE")
            out += escaped(title);
        else if (marker == "DATA")
            out += for_script(data);
        else
            out += asset(marker);
        at = close + 1;
    }
    return out;
}

}  // namespace switchfold
