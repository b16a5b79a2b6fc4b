// SPDX-License-Identifier: Apache-2.0
#include "core/sqlite.h"

#include "core/error.h"

#include <fmt/format.h>

#include <cerrno>

#include <sqlite3.h>

namespace switchfold {

namespace {

std::string doubled(std::string_view text, char quote) {
    std::string out(1, quote);
    for (const char c : text) {
        out += c;
        if (c == quote)
            out += quote;
    }
    return out + quote;
}

int flags_of(Sqlite::Mode mode) {
    switch (mode) {
    case Sqlite::Mode::kUntrusted:
        return SQLITE_OPEN_READONLY;
    case Sqlite::Mode::kRead:
        return SQLITE_OPEN_READWRITE;
    case Sqlite::Mode::kWrite:
        break;
    }
    return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

}  // namespace

Sqlite::Sqlite(const std::filesystem::path& path, Mode mode, const std::filesystem::path& name) :
    path_(name.empty() ? path : name), mode_(mode) {
    const int code = sqlite3_open_v2(path.c_str(), &handle_, flags_of(mode), nullptr);
    if (code != SQLITE_OK) {
        const int why = handle_ == nullptr ? ENOMEM : sqlite3_system_errno(handle_);
        sqlite3_close(handle_);
        if (mode == Mode::kUntrusted)
            throw ConfigError(
                path_.string(), "", "cannot be opened; expected a readable SQLite file");
        throw IoError(path_.string(), why == 0 ? EIO : why, "open the database");
    }
    if (mode == Mode::kUntrusted) {
        // Twice the limit of profilers on texts; no longer text is a name.
        constexpr int kLongestText = 1 << 20;
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kLongestText);
        return;
    }
    constexpr int kPatienceMs = 10'000;
    sqlite3_busy_timeout(handle_, kPatienceMs);
}

Sqlite::~Sqlite() {
    sqlite3_close(handle_);
}

void Sqlite::run(const std::string& sql) {
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        fail(code);
}

void Sqlite::fail(int code) const {
    if (mode_ == Mode::kUntrusted)
        throw ConfigError(
            path_.string(), "",
            fmt::format(
                "cannot be read ({}); expected a whole SQLite file", sqlite3_errmsg(handle_)));
    constexpr int kPrimary = 0xff;
    switch (code & kPrimary) {
    case SQLITE_FULL:
        throw IoError(path_.string(), ENOSPC, "write the database");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY: {
        const int why = sqlite3_system_errno(handle_);
        throw IoError(path_.string(), why == 0 ? EIO : why, "use the database");
    }
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        throw ConfigError(
            path_.string(), "", "is not a database of a sweep; expected one that sweep wrote");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        throw IoError(path_.string(), EBUSY, "use the database");
    case SQLITE_NOMEM:
        throw std::bad_alloc();
    default:
        throw std::logic_error(fmt::format("{}: {}", path_.string(), sqlite3_errmsg(handle_)));
    }
}

Statement::Statement(Sqlite& database, std::string_view sql) : database_(database) {
    const int code = sqlite3_prepare_v2(
        database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
    if (code != SQLITE_OK)
        database.fail(code);
}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

void Statement::reset() {
    sqlite3_reset(statement_);
}

Statement& Statement::bind_all(const std::vector<Json>& values) {
    reset();
    int index = 0;
    for (const Json& value : values) {
        ++index;
        if (value.is_null())
            put_null(index);
        else if (value.is_string())
            put(index, value.get_ref<const std::string&>());
        else if (value.is_boolean())
            put(index, value.get<bool>());
        else if (value.is_number_float())
            put(index, value.get<double>());
        else if (value.is_number_unsigned())
            put(index, value.get<std::uint64_t>());
        else
            put(index, value.get<std::int64_t>());
    }
    return *this;
}

bool Statement::step(std::string& why) {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        why = sqlite3_errstr(code);
    return code == SQLITE_ROW;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        database_.fail(code);
    return false;
}

void Statement::run() {
    while (step()) {
    }
    reset();
}

void Statement::put(int index, std::string_view value) {
    // A null pointer would be bound as NULL.
    sqlite3_bind_text(
        statement_, index, value.data() == nullptr ? "" : value.data(),
        static_cast<int>(value.size()), SQLITE_TRANSIENT);
}
void Statement::put(int index, double value) {
    sqlite3_bind_double(statement_, index, value);
}
void Statement::put(int index, std::int64_t value) {
    sqlite3_bind_int64(statement_, index, value);
}
void Statement::put_null(int index) {
    sqlite3_bind_null(statement_, index);
}

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    return bytes == nullptr
               ? std::string()
               : std::string(
                     reinterpret_cast<const char*>(bytes),
                     static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}
std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
}
std::string_view Statement::bytes(int column) const {
    const void* const data = sqlite3_column_blob(statement_, column);
    return {
        static_cast<const char*>(data),
        static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
Statement::Type Statement::type(int column) const {
    switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
        return Type::kInteger;
    case SQLITE_FLOAT:
        return Type::kReal;
    case SQLITE_TEXT:
        return Type::kText;
    case SQLITE_BLOB:
        return Type::kBlob;
    default:
        return Type::kNull;
    }
}
int Statement::columns() const {
    return sqlite3_column_count(statement_);
}
std::string Statement::column_name(int column) const {
    return sqlite3_column_name(statement_, column);
}

std::string sql_name(std::string_view name) {
    return doubled(name, '"');
}
std::string sql_text(std::string_view text) {
    return doubled(text, '\'');
}

}  // namespace switchfold
