// Lists what is wrong in an object's debug information, and writes the object with it made right.
//
// repair IN.hsaco OUT.hsaco
#include <eitri.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

static std::vector<char> read_file(const char *name)
{
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int main(int count, char **arguments)
{
    if (count != 3) {
        std::cerr << "usage: repair IN OUT\n";
        return 1;
    }
    try {
        const auto object = read_file(arguments[1]);
        auto errors = [](eitri::bytes_view bytes) {
            unsigned found = 0;
            eitri::lint(bytes, [&](const eitri_finding &finding) { found += finding.level == EITRI_WRONG; }).value();
            return found;
        };
        eitri::options options;
        options.flags = EITRI_FIX;
        options.changed = [](std::string_view change) { std::cout << change << '\n'; };
        const auto fixed = eitri::rewrite(object, options).value();
        std::cout << errors(object) << " errors before, " << errors(fixed) << " after\n";
        std::ofstream(arguments[2], std::ios::binary).write(fixed.text().data(), std::streamsize(fixed.size()));
    } catch (const eitri::failure &failure) {
        std::cerr << "repair: " << failure.what() << '\n';
        return 1;
    }
}
