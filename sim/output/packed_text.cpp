// SPDX-License-Identifier: Apache-2.0
#include "sim/output/packed_text.h"

#include "core/error.h"

#include <cstddef>
#include <cstdint>

#include <zlib.h>

namespace switchfold {

namespace {

std::string gzipped(std::string_view text) {
    z_stream stream{};
    constexpr int kGzip = 16;  // added to the window: a gzip header, whose time stays 0
    constexpr int kMemory = 8;
    SWITCHFOLD_CHECK(
        deflateInit2(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
            Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib did not start");
    std::string in(text);
    std::string out(deflateBound(&stream, static_cast<uLong>(in.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int code = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    SWITCHFOLD_CHECK(code == Z_STREAM_END, "zlib did not end");
    return out;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k)
            three = three << 8U |
                    (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63U];
    }
    return out;
}

}  // namespace

std::string packed(std::string_view text) {
    return base64(gzipped(text));
}

}  // namespace switchfold
