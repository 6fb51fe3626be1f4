// Tests of ferrosz.hpp: batches, targets, updates, levels, matches and streams without header, by plain loops.
// Prints nothing but faults.

#include <ferrosz.hpp>

#include <cmath>
#include <cstdio>

static int failures;

static void check(bool is_true, const char* what) {
    if (!is_true) {
        failures++;
        std::fprintf(stderr, "not true: %s\n", what);
    }
}

// The largest difference of two arrays.
static double largest(const std::vector<float>& field, const std::vector<float>& values) {
    double found = field.size() == values.size() ? 0 : INFINITY;
    for (size_t i = 0; i < field.size() && i < values.size(); i++) {
        found = std::fmax(found, std::fabs(double(field[i]) - values[i]));
    }
    return found;
}

int main() {
    std::vector<float> field(6000);
    for (size_t i = 0; i < field.size(); i++) {
        field[i] = std::sin(0.01f * float(i));
    }
    ferrosz::Compressor plain("plain", FERROSZ_ABS, 0.01);
    const std::vector<std::vector<float>> fields = {field, {}, {1, 2, 3}};
    const auto streams = plain.compress_batch(fields);
    for (size_t i = 0; i < fields.size(); i++) {
        check(streams[i] == plain.compress(fields[i].data(), fields[i].size()), "a batch has the streams of single calls");
    }

    const auto tenth = plain.compress_to("ratio", 10, field.data(), field.size());
    check(tenth.size() * 10 <= field.size() * 4, "the ratio is reached");

    plain.extents({60, 100});
    const auto stream = plain.compress(field.data(), field.size());
    auto expected = ferrosz::decompress<float>(stream);
    const auto found = ferrosz::decompress<float>(ferrosz::update<float>(stream, {10, 20}, {2, 3}, {9, 8, 7, 6, 5, 4}));
    for (size_t i = 0; i < 6; i++) {
        expected[(10 + i / 3) * 100 + 20 + i % 3] = 9 - float(i);
    }
    check(largest(expected, found) <= 0.01, "an update is an assignment");

    const auto whole = ferrosz::decompress<float>(stream);
    const auto high = ferrosz::find(plain.statistics().compress(field.data(), field.size()), 0.9, INFINITY);
    size_t count = 0;
    for (size_t i = 0; i < whole.size(); i++) {
        if (whole[i] >= 0.9) {
            check(count < high.values.size() && high.elements[count] == i && high.values[count] == whole[i], "a match");
            count++;
        }
    }
    check(count > 0 && count == high.values.size() && count == high.elements.size(), "all matches are found");

    ferrosz::Compressor interp("interp", FERROSZ_ABS, 0.01);
    const auto apart = interp.extents({60, 100}).levels(2).compress(field.data(), field.size());
    const auto fine = ferrosz::decompress<float>(apart), coarse = ferrosz::decompress_level<float>(apart, 2);
    check(coarse.size() == 15 * 25, "a level has every fourth value along each axis");
    for (size_t i = 0; i < coarse.size(); i++) {
        check(coarse[i] == fine[i / 25 * 4 * 100 + i % 25 * 4], "a value of a level");
    }

    ferrosz::Bare<float> bare("cuszp", {60, 100});
    bare.mode("outlier").abs(0.01);
    check(largest(field, bare.decompress(bare.compress(field), field.size())) <= 0.01001, "a bare stream comes back");

    try {
        ferrosz::update<float>(stream, {60, 0}, {1, 1}, {0});
        check(false, "a box outside is an error");
    } catch (const ferrosz::Error& error) {
        check(error.status == FERROSZ_INVALID_ARGUMENT, error.what());
    }
    return failures > 0;
}
