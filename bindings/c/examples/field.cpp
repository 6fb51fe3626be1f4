// As field.c, with the objects and exceptions of ferrosz.hpp.
//
//     c++ -std=c++17 field.cpp $(pkg-config --cflags --libs ferrosz) -o field && ./field field.fsz

#include <ferrosz.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) try {
    constexpr uint64_t rows = 60, columns = 100;
    std::vector<float> field(rows * columns);
    for (uint64_t i = 0; i < field.size(); i++) {
        field[i] = 0.25f * float((i / columns) * (i % columns) % 1000);
    }

    ferrosz::Compressor compressor("small", FERROSZ_ABS, 0.1);
    const auto stream = compressor.extents({rows, columns}).compress(field.data(), field.size());
    const auto decoded = ferrosz::decompress<float>(stream);

    double largest = 0;
    for (uint64_t i = 0; i < field.size(); i++) {
        largest = std::max(largest, std::abs(double(field[i]) - double(decoded[i])));
    }
    std::cout << 4 * field.size() << " bytes became " << stream.size() << ", largest error " << largest << '\n';
    if (argc > 1) {
        std::ofstream(argv[1], std::ios::binary).write(reinterpret_cast<const char*>(stream.data()), stream.size());
    }

    // A damaged stream is an exception.
    auto damaged = stream;
    damaged.back() ^= 1;
    try {
        ferrosz::decompress<float>(damaged);
        return 1;
    } catch (const ferrosz::Error& error) {
        std::cout << "damaged: " << error.what() << '\n';
        return error.status == FERROSZ_DAMAGED_STREAM && largest <= 0.1 ? 0 : 1;
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
