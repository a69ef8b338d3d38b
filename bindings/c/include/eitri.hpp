// eitri for C++17: handles that free themselves, spans, results that have a value or an error. Nothing is compiled apart:
// include this file, and link what eitri.h needs.
#ifndef EITRI_HPP
#define EITRI_HPP

#include "eitri.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace eitri {

// Bytes of somebody else, which have to live during the call.
class bytes_view {
public:
    bytes_view() = default;
    bytes_view(const void *data, std::size_t size) : data_(static_cast<const char *>(data)), size_(size) {}
    // A literal, up to its NUL.
    bytes_view(const char *text) : bytes_view(std::string_view(text)) {}
    bytes_view(std::string_view text) : bytes_view(text.data(), text.size()) {}
    // A vector, an array, a span: whatever has `data()` and `size()`, with elements of a byte.
    template <class Bytes, class = std::enable_if_t<sizeof(*std::declval<const Bytes &>().data()) == 1>,
              class = decltype(std::declval<const Bytes &>().size())>
    bytes_view(const Bytes &bytes) : bytes_view(static_cast<const void *>(bytes.data()), bytes.size()) {}

    const char *data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    const char *data_ = nullptr;
    std::size_t size_ = 0;
};

// Why a function failed, and what that concerns. Nothing of it refers to the library.
struct error {
    eitri_result result = EITRI_INTERNAL;
    std::string message;
    std::string kind;
    std::optional<std::string> unit, function, variable, section, json_path;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> pcs;
    std::optional<std::uint64_t> offset, operation, json_line, json_column;
};

// `value()` throws it where there is an error instead of a value.
class failure : public std::runtime_error {
public:
    explicit failure(eitri::error error)
        : std::runtime_error(error.message), error_(std::make_shared<eitri::error>(std::move(error))) {}
    const eitri::error &error() const noexcept { return *error_; }

private:
    std::shared_ptr<eitri::error> error_;
};

// A value or an error, as std::expected of C++23.
template <class T> class [[nodiscard]] result {
public:
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(eitri::error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    T &value() & {
        check();
        return std::get<0>(state_);
    }
    const T &value() const & {
        check();
        return std::get<0>(state_);
    }
    T &&value() && {
        check();
        return std::get<0>(std::move(state_));
    }
    // These are undefined for an error, and `error()` for a value.
    T &operator*() & noexcept { return *std::get_if<0>(&state_); }
    const T &operator*() const & noexcept { return *std::get_if<0>(&state_); }
    T &&operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T *operator->() noexcept { return std::get_if<0>(&state_); }
    const T *operator->() const noexcept { return std::get_if<0>(&state_); }
    template <class U> T value_or(U &&other) const & {
        return has_value() ? std::get<0>(state_) : static_cast<T>(std::forward<U>(other));
    }
    template <class U> T value_or(U &&other) && {
        return has_value() ? std::get<0>(std::move(state_)) : static_cast<T>(std::forward<U>(other));
    }
    const eitri::error &error() const noexcept { return *std::get_if<1>(&state_); }

private:
    void check() const {
        if (!has_value())
            throw failure(std::get<1>(state_));
    }
    std::variant<T, eitri::error> state_;
};

// Nothing, of a function without another result.
struct done {};

using message_function = std::function<void(std::string_view)>;
using finding_function = std::function<void(const eitri_finding &)>;

namespace detail {

inline eitri::error take(eitri_result result, eitri_error *raw) {
    std::unique_ptr<eitri_error, decltype(&eitri_error_free)> owner(raw, eitri_error_free);
    eitri::error error;
    error.result = result;
    eitri_error_place place;
    if (!eitri_error_where(raw, &place))
        return error;
    error.message = eitri_error_message(raw);
    error.kind = eitri_error_kind(raw);
    auto text = [](const char *given) { return given ? std::optional<std::string>(given) : std::nullopt; };
    error.unit = text(place.unit);
    error.function = text(place.function);
    error.variable = text(place.variable);
    error.section = text(place.section);
    error.json_path = text(place.json_path);
    if (place.has_pcs)
        error.pcs.emplace(place.pcs_start, place.pcs_end);
    if (place.has_offset)
        error.offset = place.offset;
    if (place.has_operation)
        error.operation = place.operation;
    if (place.has_json) {
        error.json_line = place.json_line;
        error.json_column = place.json_column;
    }
    return error;
}

// Functions of the caller behind a C callback. An exception ends the call, and is thrown after it.
class callbacks {
public:
    const message_function *omitted = nullptr;
    const message_function *warned = nullptr;
    const message_function *changed = nullptr;
    const message_function *written = nullptr;
    const finding_function *finding = nullptr;
    std::exception_ptr thrown;

    template <class F> int guard(F call) noexcept {
        try {
            call();
            return 0;
        } catch (...) {
            thrown = std::current_exception();
            return -1;
        }
    }
    int tell(const message_function *to, std::string_view message) noexcept {
        return guard([&] {
            if (to && *to)
                (*to)(message);
        });
    }
    static int on_message(void *context, const char *message) noexcept {
        auto *self = static_cast<callbacks *>(context);
        return self->tell(self->omitted, message);
    }
    static int on_warning(void *context, const char *message) noexcept {
        auto *self = static_cast<callbacks *>(context);
        return self->tell(self->warned, message);
    }
    static int on_change(void *context, const char *message) noexcept {
        auto *self = static_cast<callbacks *>(context);
        return self->tell(self->changed, message);
    }
    static int on_write(void *context, const char *data, std::size_t size) noexcept {
        auto *self = static_cast<callbacks *>(context);
        return self->tell(self->written, {data, size});
    }
    static int on_finding(void *context, const eitri_finding *found) noexcept {
        auto *self = static_cast<callbacks *>(context);
        return self->guard([&] {
            if (self->finding && *self->finding)
                (*self->finding)(*found);
        });
    }
    void rethrow() {
        if (thrown)
            std::rethrow_exception(std::exchange(thrown, nullptr));
    }
};

} // namespace detail

// Bytes that a function returned.
class buffer {
public:
    explicit buffer(eitri_buffer *raw) : raw_(raw, eitri_buffer_free) {}
    const std::uint8_t *data() const { return eitri_buffer_data(raw_.get()); }
    std::size_t size() const { return eitri_buffer_size(raw_.get()); }
    const std::uint8_t *begin() const { return data(); }
    const std::uint8_t *end() const { return data() + size(); }
    std::string_view text() const { return {reinterpret_cast<const char *>(data()), size()}; }
    operator bytes_view() const { return {data(), size()}; }

private:
    std::unique_ptr<eitri_buffer, decltype(&eitri_buffer_free)> raw_;
};

// How debug information is written. `flags` are EITRI_PARTIAL and the others. `target` is for objects that do not state it.
struct options {
    std::string consumer;
    std::string target;
    std::uint32_t flags = 0;
    message_function omitted;
    message_function warned;
    message_function changed;
};

namespace detail {

// Whether a text would be cut in C.
inline bool is_cut(const std::string &text) { return text.find('\0') != std::string::npos; }

inline eitri::error cut(const char *name) {
    eitri::error error;
    error.result = EITRI_ARGUMENT;
    error.kind = "Argument";
    error.message = std::string("`") + name + "` contains a zero byte";
    return error;
}

// The name of the option that would be cut in C, if any.
inline const char *cut_option(const options &options) {
    return is_cut(options.consumer) ? "consumer" : is_cut(options.target) ? "target" : nullptr;
}

// The options for C; `options` and `calls` live as long as they.
inline eitri_options for_c(const options &options, callbacks &calls) {
    eitri_options raw;
    std::memset(&raw, 0, sizeof raw);
    raw.size = sizeof raw;
    raw.consumer = options.consumer.empty() ? nullptr : options.consumer.c_str();
    raw.target = options.target.empty() ? nullptr : options.target.c_str();
    raw.flags = options.flags;
    calls.omitted = &options.omitted;
    calls.warned = &options.warned;
    calls.changed = &options.changed;
    raw.omitted = callbacks::on_message;
    raw.warned = callbacks::on_warning;
    raw.changed = callbacks::on_change;
    raw.context = &calls;
    return raw;
}

template <class Handle, class Made, class Call> result<Made> made(callbacks &calls, Call call) {
    Handle *raw = nullptr;
    eitri_error *error = nullptr;
    eitri_result code = call(&raw, &error);
    if (code == EITRI_OK)
        return Made(raw);
    auto failed = take(code, error);
    calls.rethrow();
    return failed;
}

template <class Handle, class Made, class Call> result<Made> made(Call call) {
    callbacks none;
    return made<Handle, Made>(none, call);
}

} // namespace detail

// What a description or an object's debug information says.
class module {
public:
    explicit module(eitri_module *raw) : raw_(raw, eitri_module_free) {}

    // Reads a whole description in JSON.
    static result<module> from_json(bytes_view json) {
        return detail::made<eitri_module, module>(
            [&](auto **raw, auto **error) { return eitri_module_from_json(json.data(), json.size(), raw, error); });
    }
    // Reads an object's debug information, whichever producer wrote it.
    static result<module> import(bytes_view object, const message_function &unimported = {},
                                 const std::string &target = {}) {
        if (detail::is_cut(target))
            return detail::cut("target");
        detail::callbacks calls;
        calls.omitted = &unimported;
        return detail::made<eitri_module, module>(calls, [&](auto **raw, auto **error) {
            return eitri_import(object.data(), object.size(), target.empty() ? nullptr : target.c_str(),
                                detail::callbacks::on_message, &calls, raw, error);
        });
    }
    result<buffer> to_json() const {
        return detail::made<eitri_buffer, buffer>(
            [&](auto **raw, auto **error) { return eitri_module_to_json(get(), raw, error); });
    }
    // Writes a new object without code.
    result<buffer> emit(const options &options = {}) const {
        if (const char *name = detail::cut_option(options))
            return detail::cut(name);
        detail::callbacks calls;
        auto how = detail::for_c(options, calls);
        return detail::made<eitri_buffer, buffer>(
            calls, [&](auto **raw, auto **error) { return eitri_emit(get(), &how, raw, error); });
    }
    // Adds debug information to an object with the code, or to a PTX text.
    result<buffer> attach(bytes_view code, const options &options = {}) const {
        if (const char *name = detail::cut_option(options))
            return detail::cut(name);
        detail::callbacks calls;
        auto how = detail::for_c(options, calls);
        return detail::made<eitri_buffer, buffer>(calls, [&](auto **raw, auto **error) {
            return eitri_attach(get(), code.data(), code.size(), &how, raw, error);
        });
    }
    // Compares an object with this module.
    result<eitri_check_counts> check(bytes_view object, const options &options = {},
                                     const finding_function &finding = {}) const {
        if (const char *name = detail::cut_option(options))
            return detail::cut(name);
        detail::callbacks calls;
        auto how = detail::for_c(options, calls);
        calls.finding = &finding;
        eitri_check_counts counts;
        eitri_error *error = nullptr;
        eitri_result code = eitri_check(get(), object.data(), object.size(), &how, detail::callbacks::on_finding,
                                        &calls, &counts, &error);
        if (code == EITRI_OK)
            return counts;
        auto failed = detail::take(code, error);
        calls.rethrow();
        return failed;
    }
    const eitri_module *get() const { return raw_.get(); }

private:
    std::unique_ptr<eitri_module, decltype(&eitri_module_free)> raw_;
};

// A description to which statements are added.
class description {
public:
    explicit description(eitri_description *raw) : raw_(raw, eitri_description_free) {}

    static result<description> create(const std::string &target) {
        if (detail::is_cut(target))
            return detail::cut("target");
        return detail::made<eitri_description, description>(
            [&](auto **raw, auto **error) { return eitri_description_new(target.c_str(), raw, error); });
    }
    // Adds a statement, or a list of statements.
    result<done> add(std::string_view statements) {
        eitri_error *error = nullptr;
        eitri_result code = eitri_description_add(raw_.get(), statements.data(), statements.size(), &error);
        if (code == EITRI_OK)
            return done{};
        return detail::take(code, error);
    }
    // Adds a variable or a parameter; its size is set here.
    result<done> add(eitri_variable variable) {
        variable.size = sizeof variable;
        eitri_error *error = nullptr;
        eitri_result code = eitri_description_variable(raw_.get(), &variable, &error);
        if (code == EITRI_OK)
            return done{};
        return detail::take(code, error);
    }
    // The DWARF number of a register of the target.
    result<std::uint64_t> register_number(const std::string &name) const {
        if (detail::is_cut(name))
            return detail::cut("name");
        std::uint64_t number = 0;
        eitri_error *error = nullptr;
        eitri_result code = eitri_description_register(raw_.get(), name.c_str(), &number, &error);
        if (code == EITRI_OK)
            return number;
        return detail::take(code, error);
    }
    result<module> finish() const {
        return detail::made<eitri_module, module>(
            [&](auto **raw, auto **error) { return eitri_description_finish(raw_.get(), raw, error); });
    }

private:
    std::unique_ptr<eitri_description, decltype(&eitri_description_free)> raw_;
};

// Checks an object without a description.
inline result<done> lint(bytes_view object, const finding_function &finding, const std::string &name = {}) {
    if (detail::is_cut(name))
        return detail::cut("name");
    detail::callbacks calls;
    calls.finding = &finding;
    eitri_error *error = nullptr;
    eitri_result code = eitri_lint(object.data(), object.size(), name.c_str(), detail::callbacks::on_finding,
                                   &calls, &error);
    if (code == EITRI_OK)
        return done{};
    auto failed = detail::take(code, error);
    calls.rethrow();
    return failed;
}

// Prints an object's debug sections, or a SPIR-V module's debug instructions, part by part.
inline result<done> dump(bytes_view object, const message_function &write, bool is_verbose = false) {
    detail::callbacks calls;
    calls.written = &write;
    eitri_error *error = nullptr;
    eitri_result code = eitri_dump(object.data(), object.size(), is_verbose, detail::callbacks::on_write, &calls, &error);
    if (code == EITRI_OK)
        return done{};
    auto failed = detail::take(code, error);
    calls.rethrow();
    return failed;
}

// Writes an object's debug information again.
inline result<buffer> rewrite(bytes_view object, const options &options = {}) {
    if (const char *name = detail::cut_option(options))
        return detail::cut(name);
    detail::callbacks calls;
    auto how = detail::for_c(options, calls);
    return detail::made<eitri_buffer, buffer>(calls, [&](auto **raw, auto **error) {
        return eitri_rewrite(object.data(), object.size(), &how, raw, error);
    });
}

// Measures coverage: a line of `eitri stats --format json`.
inline result<buffer> stats(bytes_view object, const std::string &name = {}) {
    if (detail::is_cut(name))
        return detail::cut("name");
    return detail::made<eitri_buffer, buffer>([&](auto **raw, auto **error) {
        return eitri_stats_json(object.data(), object.size(), name.c_str(), raw, error);
    });
}

// Draws an object's debug information as an HTML page.
inline result<buffer> report(bytes_view object, const std::string &name = {}) {
    if (detail::is_cut(name))
        return detail::cut("name");
    return detail::made<eitri_buffer, buffer>([&](auto **raw, auto **error) {
        return eitri_report(object.data(), object.size(), name.c_str(), raw, error);
    });
}

} // namespace eitri

#endif // EITRI_HPP
