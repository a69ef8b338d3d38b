// A program that instantiates much of the C++ standard library.
#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : virtual Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
};

struct Circle : virtual Shape {
    double radius;
    explicit Circle(double radius) : radius(radius) {}
    double area() const override { return 3.14159 * radius * radius; }
};

template <class... Cases>
struct Overload : Cases... {
    using Cases::operator()...;
};

template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

static std::map<std::string, int> words(const std::string &text) {
    std::map<std::string, int> counts;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
        ++counts[word];
    }
    return counts;
}

static std::optional<long> number(std::string_view text) {
    long value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

int main(int argc, char **argv) {
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Square>(argc));
    shapes.push_back(std::make_unique<Circle>(argc + 1));
    double total = std::accumulate(shapes.begin(), shapes.end(), 0.0,
                                   [](double sum, const auto &shape) { return sum + shape->area(); });

    std::mt19937_64 generator(argc);
    std::vector<std::uint64_t> numbers(100);
    std::generate(numbers.begin(), numbers.end(), std::ref(generator));
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    std::stable_partition(numbers.begin(), numbers.end(), [argc](std::uint64_t n) { return n % (argc + 2) == 0; });

    std::regex pattern("([a-z]+)-(\\d+)");
    std::smatch match;
    std::string text = argc > 1 ? argv[1] : "abc-12 the end of the text";
    long parsed = std::regex_search(text, match, pattern) ? number(match[2].str()).value_or(-1) : 0;

    std::variant<int, std::string, double> either = argc;
    if (parsed > 3) {
        either = text;
    }
    auto length = std::visit(Overload{[](int n) { return std::size_t(n); },
                                      [](const std::string &s) { return s.size(); },
                                      [](double d) { return std::size_t(d); }},
                             either);

    auto sum = std::async(std::launch::async, [&numbers] {
        return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t(0));
    });
    std::unordered_map<std::string, std::function<long(long, long)>> operations{
        {"add", std::plus<long>()},
        {"mod", [](long a, long b) { return b ? a % b : 0; }},
    };
    std::deque<long> queue;
    std::set<long> seen;
    for (long n = parsed; seen.insert(n).second; n = operations["mod"](n * 7 + 3, 101)) {
        queue.push_front(n);
    }
    for (const auto &[word, count] : words(text)) {
        std::cout << word << ' ' << count << '\n';
    }
    std::cout << total << ' ' << parsed << ' ' << length << ' ' << sum.get() << ' ' << queue.size() << '\n';
}
