#include <eitri.hpp>
#include <iostream>

int main()
{
    auto description = eitri::description::create("amdgpu-gfx1030-wave32").value();
    description.add(R"([
        {"unit": {"name": "scale.cl", "language": "OpenCL"}},
        {"base_type": {"unit": "scale.cl", "name": "int", "encoding": "signed", "bits": 32}},
        {"function": {"in": "scale.cl", "name": "scale", "kernel": true, "code": {"symbol": "scale", "bytes": 40}}},
        {"parameter": {"in": "scale", "name": "n", "type": "int",
            "live": [[0, 12, {"register": "s4"}], [12, 40, {"lane": ["v40", 7]}]]}}
    ])").value();
    const eitri::module module = description.finish().value();
    const eitri::buffer object = module.emit().value();
    std::cout << module.check(object).value().findings << " findings\n";
}
