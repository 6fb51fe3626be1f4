// Tests of levels, against plain loops over the decoded field. Prints the number of checks.

#include "check.h"

#include <math.h>
#include <stdint.h>

enum { DEPTH = 21, HEIGHT = 50, WIDTH = 70, ELEMENTS = DEPTH * HEIGHT * WIDTH };
static const uint64_t EXTENTS[] = {DEPTH, HEIGHT, WIDTH};
static const float HOLE = -999;
static float field[ELEMENTS], decoded[ELEMENTS], found[ELEMENTS];

static void make_field(void) {
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = i % 11 == 3 ? HOLE : sinf(0.01f * (float)(i % WIDTH)) + cosf(1e-4f * (float)i);
    }
}

// Whether what was found is the level of a box of the decoded field, and so many values.
static int is_level(uint32_t level, const uint64_t *starts, const uint64_t *lengths, uint64_t elements) {
    const uint64_t step = 1ull << level;
    uint64_t count = 0, wrong = 0;
    for (uint64_t z = starts[0]; z < starts[0] + lengths[0]; z++) {
        for (uint64_t y = starts[1]; y < starts[1] + lengths[1]; y++) {
            for (uint64_t x = starts[2]; x < starts[2] + lengths[2]; x++) {
                if (z % step == 0 && y % step == 0 && x % step == 0) {
                    wrong += count >= elements || found[count] != decoded[(z * HEIGHT + y) * WIDTH + x];
                    count++;
                }
            }
        }
    }
    return wrong == 0 && count == elements;
}

static ferrosz_buffer *compress(const char *codec, uint32_t levels, ferrosz_error *error) {
    ferrosz_compressor *compressor = ferrosz_compressor_new(codec, FERROSZ_ABS, 1e-3, error);
    CHECK(ferrosz_compressor_set_extents(compressor, 3, EXTENTS, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_add_fill(compressor, HOLE, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_set_levels(compressor, levels, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    ferrosz_compressor_free(compressor);
    return stream;
}

static void every_level(const char *codec, uint32_t levels, ferrosz_error *error) {
    static const uint64_t WHOLE[] = {0, 0, 0}, STARTS[] = {3, 17, 8}, LENGTHS[] = {9, 20, 41}, NONE[] = {1, 0, 70};
    ferrosz_buffer *stream = compress(codec, levels, error);
    const void *data = ferrosz_buffer_data(stream);
    const uint64_t bytes = ferrosz_buffer_bytes(stream);
    ferrosz_info *info = ferrosz_info_new(data, bytes, error);
    CHECK(ferrosz_info_levels_apart(info) == levels);
    ferrosz_info_free(info);
    CHECK(ferrosz_decompress(NULL, data, bytes, FERROSZ_F32, decoded, ELEMENTS, NULL, error) == FERROSZ_OK);
    for (uint32_t level = 0; level < 8; level++) {
        uint64_t elements = 0, needed = 1;
        for (int axis = 0; axis < 3; axis++) {
            needed *= ferrosz_level_length(EXTENTS[axis], level);
        }
        CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, level, 0, NULL, NULL, FERROSZ_F32, NULL, 0, &elements, error),
                    FERROSZ_OUTPUT_TOO_SMALL, "elements");
        CHECK(elements == needed);
        CHECK(ferrosz_decompress_level(NULL, data, bytes, level, 0, NULL, NULL, FERROSZ_F32, found, needed, &elements, error) ==
              FERROSZ_OK);
        CHECK(is_level(level, WHOLE, EXTENTS, elements));
        CHECK(ferrosz_decompress_level(NULL, data, bytes, level, 3, STARTS, LENGTHS, FERROSZ_F32, found, ELEMENTS, &elements,
                                       error) == FERROSZ_OK);
        CHECK(is_level(level, STARTS, LENGTHS, elements));
        CHECK(ferrosz_decompress_level(NULL, data, bytes, level, 3, NONE, WHOLE, FERROSZ_F32, NULL, 0, &elements, error) ==
              FERROSZ_OK);
        CHECK(elements == 0);
    }
    ferrosz_buffer_free(stream);
}

// The parts of complex numbers stay together.
static void complex_numbers(ferrosz_error *error) {
    const uint64_t extents[] = {30, 50, 2};
    ferrosz_compressor *compressor = ferrosz_compressor_new("interp", FERROSZ_ABS, 1e-3, error);
    CHECK(ferrosz_compressor_set_extents(compressor, 3, extents, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_set_complex(compressor, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_set_levels(compressor, 1, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, 3000, error);
    const void *data = ferrosz_buffer_data(stream);
    uint64_t bytes = ferrosz_buffer_bytes(stream), elements = 0, wrong = 0;
    CHECK(ferrosz_decompress(NULL, data, bytes, FERROSZ_F32, decoded, ELEMENTS, NULL, error) == FERROSZ_OK);
    CHECK(ferrosz_decompress_level(NULL, data, bytes, 1, 0, NULL, NULL, FERROSZ_F32, found, 15 * 25 * 2, &elements, error) ==
          FERROSZ_OK);
    for (uint64_t i = 0; i < elements; i++) {
        wrong += found[i] != decoded[(i / 50 * 2 * 50 + i / 2 % 25 * 2) * 2 + i % 2];
    }
    CHECK(elements == 15 * 25 * 2 && wrong == 0);
    ferrosz_buffer_free(stream), ferrosz_compressor_free(compressor);
}

static void refused(ferrosz_error *error) {
    ferrosz_compressor *plain = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    CHECK_FAILS(ferrosz_compressor_set_levels(plain, 1, error), FERROSZ_INVALID_ARGUMENT, "plain has no levels");
    CHECK_FAILS(ferrosz_compressor_set_levels(NULL, 1, error), FERROSZ_INVALID_ARGUMENT, "compressor: the pointer is null");
    ferrosz_buffer *stream = compress("interp", 2, error);
    const void *data = ferrosz_buffer_data(stream);
    const uint64_t bytes = ferrosz_buffer_bytes(stream), starts[] = {0, 0, 1}, lengths[] = {1, 1, UINT64_MAX};
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 3, starts, EXTENTS, FERROSZ_F32, found, 0, NULL, error),
                FERROSZ_INVALID_ARGUMENT, "box");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 2, starts, EXTENTS, FERROSZ_F32, found, ELEMENTS, NULL, error),
                FERROSZ_INVALID_ARGUMENT, "box");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 3, starts, lengths, FERROSZ_F32, found, ELEMENTS, NULL, error),
                FERROSZ_INVALID_ARGUMENT, "exceeds 2^64 - 1");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 3, NULL, EXTENTS, FERROSZ_F32, found, ELEMENTS, NULL, error),
                FERROSZ_INVALID_ARGUMENT, "starts: the pointer is null");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 0, NULL, NULL, FERROSZ_F32, NULL, ELEMENTS, NULL, error),
                FERROSZ_INVALID_ARGUMENT, "values: the pointer is null");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes, 1, 0, NULL, NULL, FERROSZ_I32, found, ELEMENTS, NULL, error),
                FERROSZ_WRONG_TYPE, "f32 elements, not i32");
    CHECK_FAILS(ferrosz_decompress_level(NULL, data, bytes - 1, 1, 0, NULL, NULL, FERROSZ_F32, found, ELEMENTS, NULL, error),
                FERROSZ_DAMAGED_STREAM, "");
    uint64_t elements = 0;
    CHECK(ferrosz_decompress_level(NULL, data, bytes, UINT32_MAX, 0, NULL, NULL, FERROSZ_F32, found, 1, &elements, error) ==
          FERROSZ_OK);
    CHECK(elements == 1);
    CHECK(ferrosz_level_length(100, 3) == 13 && ferrosz_level_length(0, 3) == 0 && ferrosz_level_length(UINT64_MAX, 64) == 1);
    CHECK(ferrosz_info_levels_apart(NULL) == 0);
    ferrosz_buffer_free(stream), ferrosz_compressor_free(plain);
}

int main(void) {
    ferrosz_error *error = ferrosz_error_new();
    make_field();
    every_level("interp", 2, error);
    every_level("stencil", 4, error);
    every_level("interp", 0, error);
    complex_numbers(error);
    refused(error);
    ferrosz_error_free(error);
    printf("levels: %d checks, %d failures\n", checks, failures);
    return failures > 0;
}
