// Tests of safeguards: each is judged on every decoded value by C's arithmetic. Prints the number of checks.

#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { ROWS = 60, COLUMNS = 100, ELEMENTS = ROWS * COLUMNS };
static float field[ELEMENTS], decoded[ELEMENTS];

// Waves with noise, zeros, and values that are not finite.
static void make_field(void) {
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = 3 * sinf(0.01f * (float)i) + 0.001f * (float)((unsigned)i * 2654435761u % 1000);
    }
    field[100] = 0, field[200] = -0.0f, field[400] = NAN;
}

static ferrosz_compressor *compressor_of(const char *codec, ferrosz_error *error) {
    static const uint64_t extents[] = {ROWS, COLUMNS};
    ferrosz_compressor *compressor = ferrosz_compressor_new(codec, FERROSZ_ABS, 0.2, error);
    CHECK(ferrosz_compressor_set_extents(compressor, 2, extents, error) == FERROSZ_OK);
    return compressor;
}

// Compresses the field, decodes it, and frees the compressor. The bound holds beside all safeguards.
static void round_trip(ferrosz_compressor *compressor, ferrosz_error *error) {
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    CHECK(stream && ferrosz_decompress(NULL, ferrosz_buffer_data(stream), ferrosz_buffer_bytes(stream), FERROSZ_F32, decoded,
                                       ELEMENTS, NULL, error) == FERROSZ_OK);
    int off = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        off += isfinite(field[i]) && !(fabs((double)field[i] - decoded[i]) <= 0.2);
    }
    CHECK(off == 0 && isnan(decoded[400]) && (isfinite(field[300]) || decoded[300] == field[300]));
    ferrosz_buffer_free(stream), ferrosz_compressor_free(compressor);
}

// The number of neighbours along an axis, so many elements apart, whose order is another one.
static int disordered(int axis) {
    int found = 0, apart = axis == 0 ? COLUMNS : 1;
    for (int i = 0; i < ELEMENTS; i++) {
        bool is_last = axis == 0 ? i / COLUMNS == ROWS - 1 : i % COLUMNS == COLUMNS - 1;
        if (!is_last && isfinite(field[i]) && isfinite(field[i + apart])) {
            found += field[i] <= field[i + apart] && !(decoded[i] <= decoded[i + apart]);
            found += field[i] >= field[i + apart] && !(decoded[i] >= decoded[i + apart]);
        }
    }
    return found;
}

// How many values break each promise.
struct broken {
    int side, limits, log, exp, square, order[2];
};

static struct broken judge(void) {
    struct broken broken = {.order = {disordered(0), disordered(1)}};
    for (int i = 0; i < ELEMENTS; i++) {
        double x = field[i], y = decoded[i];
        if (isfinite(x)) {
            broken.side += (x >= 0.33) != (y >= 0.33);
            broken.limits += !(y >= -3 && y <= 4);
            broken.exp += !(fabs(exp(x) - exp(y)) <= 0.05);
            broken.square += !(fabs(x * x - y * y) <= 0.05);
            broken.log += x > 0 ? !(fabs(log(x) - log(y)) <= 0.01) : x < 0 ? y >= 0 : y != 0;
        }
    }
    return broken;
}

// Without safeguards, promises are broken; by the quantizer alone, not those of the order and of the limits.
static void without_safeguards(const char *codec, ferrosz_error *error) {
    round_trip(compressor_of(codec, error), error);
    struct broken broken = judge();
    CHECK(broken.side && broken.log && broken.exp && broken.square);
    CHECK(strcmp(codec, "interp") || (broken.order[0] && broken.order[1] && broken.limits));
}

// Each safeguard alone.
static void every_safeguard(const char *codec, ferrosz_error *error) {
    field[300] = INFINITY;
    ferrosz_compressor *compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_keep_above(compressor, 0.33, error) == FERROSZ_OK);
    round_trip(compressor, error);
    CHECK(judge().side == 0);

    compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_bound_log(compressor, 0.01, error) == FERROSZ_OK);
    round_trip(compressor, error);
    CHECK(judge().log == 0);

    compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_bound_exp(compressor, 0.05, error) == FERROSZ_OK);
    round_trip(compressor, error);
    CHECK(judge().exp == 0);

    compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_bound_square(compressor, 0.05, error) == FERROSZ_OK);
    round_trip(compressor, error);
    CHECK(judge().square == 0);

    for (uint32_t axis = 0; axis < 2; axis++) {
        compressor = compressor_of(codec, error);
        CHECK(ferrosz_compressor_keep_order(compressor, axis, error) == FERROSZ_OK);
        round_trip(compressor, error);
        CHECK(judge().order[axis] == 0);
    }

    // An infinity lies outside of all limits.
    compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_set_limits(compressor, -3, 4, error) == FERROSZ_OK);
    CHECK_NULL(ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error), FERROSZ_INVALID_ARGUMENT, "place 300");
    field[300] = 1;
    round_trip(compressor, error);
    CHECK(judge().limits == 0);
}

static void all_together(const char *codec, ferrosz_error *error) {
    ferrosz_compressor *compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_keep_above(compressor, 0.33, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_set_limits(compressor, -3, 4, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_bound_log(compressor, 0.01, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_bound_exp(compressor, 0.05, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_bound_square(compressor, 0.05, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_keep_order(compressor, 0, error) == FERROSZ_OK);
    CHECK_FAILS(ferrosz_compressor_keep_order(compressor, 1, error), FERROSZ_INVALID_ARGUMENT, "monotone 1");
    round_trip(compressor, error);
    struct broken broken = judge();
    CHECK(!(broken.side || broken.limits || broken.log || broken.exp || broken.square || broken.order[0]));
}

static void refused(ferrosz_error *error) {
    ferrosz_compressor *compressor = compressor_of("plain", error);
    CHECK_FAILS(ferrosz_compressor_keep_above(NULL, 0, error), FERROSZ_INVALID_ARGUMENT, "compressor: the pointer is null");
    CHECK_FAILS(ferrosz_compressor_keep_above(compressor, NAN, error), FERROSZ_INVALID_ARGUMENT, "keep-above");
    CHECK_FAILS(ferrosz_compressor_set_limits(compressor, 2, 1, error), FERROSZ_INVALID_ARGUMENT, "limits");
    CHECK_FAILS(ferrosz_compressor_bound_log(compressor, -1, error), FERROSZ_INVALID_ARGUMENT, "log");
    CHECK_FAILS(ferrosz_compressor_bound_exp(compressor, NAN, error), FERROSZ_INVALID_ARGUMENT, "exp");
    CHECK_FAILS(ferrosz_compressor_bound_square(compressor, INFINITY, error), FERROSZ_INVALID_ARGUMENT, "square");
    CHECK_FAILS(ferrosz_compressor_keep_order(compressor, 9, error), FERROSZ_INVALID_ARGUMENT, "monotone");
    CHECK_FAILS(ferrosz_compressor_keep_order(compressor, UINT32_MAX, error), FERROSZ_INVALID_ARGUMENT, "monotone");
    CHECK(ferrosz_compressor_set_limits(compressor, -1, 1, error) == FERROSZ_OK);
    CHECK_FAILS(ferrosz_compressor_set_limits(compressor, -2, 2, error), FERROSZ_INVALID_ARGUMENT, "limits -2,2");
    CHECK_NULL(ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error), FERROSZ_INVALID_ARGUMENT, "limits");
    ferrosz_compressor_free(compressor);

    compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.2, error);
    for (int number = 0; number < 8; number++) {
        CHECK(ferrosz_compressor_keep_above(compressor, number, error) == FERROSZ_OK);
    }
    CHECK_FAILS(ferrosz_compressor_keep_above(compressor, 8, error), FERROSZ_INVALID_ARGUMENT, "8");
    ferrosz_compressor_free(compressor);
}

int main(void) {
    ferrosz_error *error = ferrosz_error_new();
    make_field();
    const char *codecs[] = {"plain", "interp", "lorenzo+rans"};
    for (int i = 0; i < 3; i++) {
        without_safeguards(codecs[i], error);
        every_safeguard(codecs[i], error);
        all_together(codecs[i], error);
    }
    refused(error);
    ferrosz_error_free(error);
    printf("safeguards: %d checks, %d failures\n", checks, failures);
    return failures > 0;
}
