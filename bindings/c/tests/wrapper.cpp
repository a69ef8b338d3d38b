// What eitri.hpp's results, views and handles promise.
#include <eitri.hpp>

#include <array>
#include <cstddef>
#include <iostream>
#include <type_traits>

static unsigned failures;

static void expect(bool is_right, const char *what)
{
    if (!is_right) {
        std::cout << "not so: " << what << '\n';
        failures++;
    }
}

int main()
{
    // A literal, without its NUL.
    auto read = eitri::module::from_json("{\"eitri\": 1, \"target\": \"x86_64\", \"describe\": []}");
    expect(read.has_value(), "a literal is a text");
    const eitri::module module = *std::move(read);

    const auto object = module.emit();
    expect(object->size() == (*object).size() && object->size() > 0, "a constant result has its value");
    eitri::buffer owned = *module.emit();
    expect(owned.size() == object->size(), "a temporary result gives its value away");
    static_assert(std::is_same_v<decltype(*module.emit()), eitri::buffer &&>, "by a reference to what ends");

    eitri::result<int> none(eitri::error{});
    expect(none.value_or(7) == 7 && eitri::result<int>(5).value_or(7) == 5, "value_or");

    // Bytes of several types.
    const std::array<std::uint8_t, 3> bytes{};
    const std::vector<std::byte> further(3);
    expect(!eitri::lint(bytes, nullptr) && !eitri::lint(further, nullptr), "three bytes are no object");

    // A text with a NUL would be cut.
    const auto cut = eitri::description::create(std::string("x86_64\0junk", 11));
    expect(!cut && cut.error().result == EITRI_ARGUMENT, "a NUL in a text is an error");
    const auto named = eitri::stats({}, std::string("a\0b", 3));
    expect(!named && named.error().result == EITRI_ARGUMENT, "a NUL in a name is an error");
    eitri::options for_nobody;
    for_nobody.consumer = std::string("llvm\0", 5);
    const auto rewritten = eitri::rewrite({}, for_nobody);
    expect(!rewritten && rewritten.error().message == "`consumer` contains a zero byte", "a NUL in an option is an error");

    // The target is given for an object that does not state it, and the warnings are told.
    eitri::options options;
    options.target = "amdgpu-gfx1030-wave32";
    expect(!module.emit(options), "a module has a target");
    expect(eitri::module::import(*object).has_value(), "x86_64 is stated");

    std::string text;
    expect(eitri::dump(*object, [&](std::string_view part) { text += part; }).has_value(), "a dump");
    expect(text.find("x86_64") != std::string::npos || !text.empty(), "has text");

    std::cout << failures << " failures\n";
    return failures != 0;
}
