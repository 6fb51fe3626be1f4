// Tests of the C interface: every type and bound, errors and their texts, damage, threads. Prints the number of checks.

#include "check.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 7, HEIGHT = 30, WIDTH = 40, ELEMENTS = DEPTH * HEIGHT * WIDTH };
static const uint64_t EXTENTS[] = {DEPTH, HEIGHT, WIDTH};

// The bits of a number as a value of a type of 16 bits, and back.
static uint16_t half_of(float number) {
    _Float16 value = (_Float16)number;
    uint16_t bits;
    memcpy(&bits, &value, 2);
    return bits;
}
static float of_half(uint16_t bits) {
    _Float16 value;
    memcpy(&value, &bits, 2);
    return (float)value;
}
static uint16_t bfloat_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, 4);
    return (uint16_t)(bits >> 16);
}
static float of_bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float number;
    memcpy(&number, &wide, 4);
    return number;
}

static size_t size_of(ferrosz_type type) {
    return type == FERROSZ_F64 ? 8 : type == FERROSZ_F32 || type == FERROSZ_I32 || type == FERROSZ_U32 ? 4 : 2;
}

// Element i of a field, as a number.
static double number(ferrosz_type type, const void *field, size_t i) {
    switch (type) {
    case FERROSZ_F32: return ((const float *)field)[i];
    case FERROSZ_F64: return ((const double *)field)[i];
    case FERROSZ_F16: return of_half(((const uint16_t *)field)[i]);
    case FERROSZ_BF16: return of_bfloat(((const uint16_t *)field)[i]);
    case FERROSZ_I16: return ((const int16_t *)field)[i];
    case FERROSZ_U16: return ((const uint16_t *)field)[i];
    case FERROSZ_I32: return ((const int32_t *)field)[i];
    default: return ((const uint32_t *)field)[i];
    }
}

static void set_number(ferrosz_type type, void *field, size_t i, double value) {
    switch (type) {
    case FERROSZ_F32: ((float *)field)[i] = (float)value; break;
    case FERROSZ_F64: ((double *)field)[i] = value; break;
    case FERROSZ_F16: ((uint16_t *)field)[i] = half_of((float)value); break;
    case FERROSZ_BF16: ((uint16_t *)field)[i] = bfloat_of((float)value); break;
    case FERROSZ_I16: ((int16_t *)field)[i] = (int16_t)value; break;
    case FERROSZ_U16: ((uint16_t *)field)[i] = (uint16_t)value; break;
    case FERROSZ_I32: ((int32_t *)field)[i] = (int32_t)value; break;
    default: ((uint32_t *)field)[i] = (uint32_t)value; break;
    }
}

// A smooth field of any type, with a little noise.
static void *make_field(ferrosz_type type) {
    void *field = malloc(ELEMENTS * size_of(type));
    for (size_t i = 0; i < ELEMENTS; i++) {
        size_t z = i / (HEIGHT * WIDTH), y = i / WIDTH % HEIGHT, x = i % WIDTH;
        double value = 500 + 300 * sin(0.1 * x + 0.2 * y) * cos(0.3 * z) + (double)(i * 2654435761u % 100) / 50;
        set_number(type, field, i, value);
    }
    return field;
}

// The largest error that a bound allows for an element.
static double allowed(ferrosz_bound_mode mode, double bound, double value, double low, double high) {
    switch (mode) {
    case FERROSZ_ABS: return bound;
    case FERROSZ_RANGE: return bound * (high - low);
    case FERROSZ_MAX: return bound * fmax(fabs(low), fabs(high));
    default: return bound * fabs(value);
    }
}

static ferrosz_compressor *compressor_of(const char *codec, ferrosz_bound_mode mode, double bound, ferrosz_error *error) {
    ferrosz_compressor *compressor = ferrosz_compressor_new(codec, mode, bound, error);
    CHECK(compressor && ferrosz_error_status(error) == FERROSZ_OK && !*ferrosz_error_text(error));
    CHECK(ferrosz_compressor_set_extents(compressor, 3, EXTENTS, error) == FERROSZ_OK);
    return compressor;
}

static void round_trip(const char *codec, ferrosz_type type, ferrosz_bound_mode mode, double bound, ferrosz_error *error) {
    void *field = make_field(type), *decoded = malloc(ELEMENTS * size_of(type));
    ferrosz_compressor *compressor = compressor_of(codec, mode, bound, error);
    CHECK(ferrosz_compressor_choose(compressor, type, field, ELEMENTS, error) == FERROSZ_OK);
    uint64_t most = 0, bytes = 0, elements = 0;
    CHECK(ferrosz_compressor_max_stream_bytes(compressor, type, ELEMENTS, &most, error) == FERROSZ_OK);
    void *stream = malloc(most);
    CHECK(ferrosz_compress(compressor, type, field, ELEMENTS, stream, most, &bytes, error) == FERROSZ_OK);
    CHECK(bytes > 128 && bytes <= most);

    CHECK(ferrosz_decompress(NULL, stream, bytes, type, decoded, ELEMENTS, &elements, error) == FERROSZ_OK);
    CHECK(elements == ELEMENTS);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < ELEMENTS; i++) {
        low = fmin(low, number(type, field, i));
        high = fmax(high, number(type, field, i));
    }
    size_t beyond = 0, inexact = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        // Differences of these values are exact in double.
        double value = number(type, field, i), difference = fabs(value - number(type, decoded, i));
        beyond += !(difference <= allowed(mode, bound, value, low, high));
        inexact += difference > 0;
    }
    CHECK(beyond == 0);
    CHECK(bound == 0 ? inexact == 0 && !memcmp(field, decoded, ELEMENTS * size_of(type)) : inexact > 0);

    // A box has the values of the whole field.
    const uint64_t starts[] = {2, 5, 7}, lengths[] = {3, 10, 20};
    char *box = malloc(600 * size_of(type));
    CHECK(ferrosz_decompress_box(NULL, stream, bytes, 3, starts, lengths, type, box, 600, &elements, error) == FERROSZ_OK);
    CHECK(elements == 600);
    for (size_t i = 0; i < 600; i++) {
        size_t z = 2 + i / 200, y = 5 + i / 20 % 10, x = 7 + i % 20;
        CHECK(number(type, box, i) == number(type, decoded, (z * HEIGHT + y) * WIDTH + x));
    }

    ferrosz_info *info = ferrosz_info_new(stream, bytes, error);
    CHECK(info && ferrosz_info_type(info) == type && ferrosz_info_elements(info) == ELEMENTS);
    CHECK(ferrosz_info_dimensions(info) == 3 && !memcmp(ferrosz_info_extents(info), EXTENTS, sizeof EXTENTS));
    CHECK(ferrosz_info_bound_mode(info) == mode && ferrosz_info_bound(info) == bound);
    CHECK(ferrosz_info_stream_bytes(info) == bytes && ferrosz_info_field_bytes(info) == ELEMENTS * size_of(type));
    CHECK(ferrosz_info_chunks(info) > 0 && ferrosz_info_rank(info) >= 1 && ferrosz_info_rank(info) <= 3);
    CHECK(ferrosz_info_chunk_tiles(info) % 4 == 0 && ferrosz_info_chunk_tiles(info) <= 64);
    CHECK(*ferrosz_info_codec(info) && *ferrosz_info_axes(info) && ferrosz_info_fill_count(info) == 0);
    ferrosz_info_free(info);

    // Memory of the library gets the same bytes.
    ferrosz_buffer *buffer = ferrosz_compress_to_buffer(compressor, type, field, ELEMENTS, error);
    CHECK(ferrosz_buffer_bytes(buffer) == bytes && !memcmp(ferrosz_buffer_data(buffer), stream, bytes));
    ferrosz_buffer_free(buffer);
    ferrosz_compressor_free(compressor);
    free(box), free(stream), free(decoded), free(field);
}

static void every_type_and_bound(ferrosz_error *error) {
    const char *codecs[] = {"small", "balanced", "fast", "plain", "interp"};
    for (ferrosz_type type = FERROSZ_F32; type <= FERROSZ_U32; type++) {
        round_trip(codecs[type % 5], type, FERROSZ_ABS, 4, error);
        round_trip(codecs[(type + 1) % 5], type, FERROSZ_RANGE, 0.01, error);
        round_trip(codecs[(type + 2) % 5], type, FERROSZ_MAX, 0.02, error);
        round_trip(codecs[(type + 3) % 5], type, FERROSZ_ABS, 0, error);
    }
    round_trip("small", FERROSZ_F32, FERROSZ_PWREL, 0.01, error);
    round_trip("plain", FERROSZ_F64, FERROSZ_PWREL, 0.01, error);
}

static void fills_signs_and_zeros(ferrosz_error *error) {
    static float field[ELEMENTS], decoded[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = i % 7 == 3 ? 1e20f : i % 11 == 0 ? 0 : sinf(0.01f * (float)i);
    }
    ferrosz_compressor *compressor = compressor_of("interp", FERROSZ_RANGE, 0.1, error);
    ferrosz_compressor *second = ferrosz_compressor_copy(compressor, error);
    CHECK(ferrosz_compressor_add_fill(compressor, 1e20, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_detect_fills(second, FERROSZ_F32, field, ELEMENTS, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_keep_signs(compressor, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_keep_zeros(compressor, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    ferrosz_buffer *other = ferrosz_compress_to_buffer(second, FERROSZ_F32, field, ELEMENTS, error);
    ferrosz_info *info = ferrosz_info_new(ferrosz_buffer_data(stream), ferrosz_buffer_bytes(stream), error);
    ferrosz_info *found = ferrosz_info_new(ferrosz_buffer_data(other), ferrosz_buffer_bytes(other), error);
    CHECK(ferrosz_info_fill_count(info) >= 1 && ferrosz_info_fills(info)[0] == (double)1e20f);
    CHECK(ferrosz_info_fill_count(found) >= 1 && ferrosz_info_fills(found)[0] == (double)1e20f);
    CHECK(ferrosz_info_keeps_signs(info) && ferrosz_info_keeps_zeros(info));
    CHECK(!ferrosz_info_keeps_signs(found) && !ferrosz_info_keeps_zeros(found));
    CHECK(ferrosz_info_absolute_error(info) < 0.21);
    CHECK(ferrosz_decompress(NULL, ferrosz_buffer_data(stream), ferrosz_buffer_bytes(stream), FERROSZ_F32, decoded, ELEMENTS,
                             NULL, error) == FERROSZ_OK);
    for (int i = 0; i < ELEMENTS; i++) {
        CHECK(field[i] == 1e20f || field[i] == 0 ? decoded[i] == field[i]
                                                 : field[i] * decoded[i] >= 0 && fabsf(field[i] - decoded[i]) <= 0.2f);
    }
    ferrosz_info_free(info), ferrosz_info_free(found);
    ferrosz_buffer_free(stream), ferrosz_buffer_free(other);
    ferrosz_compressor_free(compressor), ferrosz_compressor_free(second);
}

static void wrong_arguments(ferrosz_error *error) {
    static float field[8] = {1, 2, 3, 4, 5, 6, 7, 8}, values[8];
    uint8_t stream[4096];
    uint64_t bytes = 0, elements = 0;
    CHECK_NULL(ferrosz_compressor_new(NULL, FERROSZ_ABS, 1, error), FERROSZ_INVALID_ARGUMENT, "codec: the pointer is null");
    CHECK_NULL(ferrosz_compressor_new("zip", FERROSZ_ABS, 1, error), FERROSZ_INVALID_ARGUMENT, "'zip' is neither a preset");
    CHECK_NULL(ferrosz_compressor_new("\xff", FERROSZ_ABS, 1, error), FERROSZ_INVALID_ARGUMENT, "UTF-8");
    CHECK_NULL(ferrosz_compressor_new("plain", 4, 1, error), FERROSZ_INVALID_ARGUMENT, "bound_mode: 4");
    CHECK_NULL(ferrosz_compressor_new("plain", FERROSZ_ABS, -1, error), FERROSZ_INVALID_ARGUMENT, "bound: the error bound -1");
    CHECK_NULL(ferrosz_compressor_new("plain", FERROSZ_ABS, NAN, error), FERROSZ_INVALID_ARGUMENT, "not a finite number");
    CHECK(ferrosz_compressor_new("zip", FERROSZ_ABS, 1, NULL) == NULL);

    // No extents are those of a single element.
    ferrosz_compressor *of_number = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    CHECK(ferrosz_compressor_set_extents(of_number, 0, NULL, error) == FERROSZ_OK);
    CHECK(ferrosz_compress(of_number, FERROSZ_F32, field, 1, stream, sizeof stream, &bytes, error) == FERROSZ_OK);
    CHECK_FAILS(ferrosz_compress(of_number, FERROSZ_F32, field, 8, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "extents []");
    ferrosz_compressor_free(of_number);

    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    const uint64_t two[] = {3, 3}, large[] = {1ull << 40, 1ull << 40}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    CHECK_FAILS(ferrosz_compressor_set_extents(NULL, 2, two, error), FERROSZ_INVALID_ARGUMENT, "compressor: the pointer is null");
    CHECK_FAILS(ferrosz_compressor_set_extents(compressor, 2, NULL, error), FERROSZ_INVALID_ARGUMENT, "extents: the pointer is null");
    CHECK_FAILS(ferrosz_compressor_set_extents(compressor, 9, nine, error), FERROSZ_INVALID_ARGUMENT, "up to eight");
    CHECK_FAILS(ferrosz_compressor_set_extents(compressor, 2, large, error), FERROSZ_INVALID_ARGUMENT, "below 2^64");
    CHECK_FAILS(ferrosz_compressor_set_rank(compressor, 4, error), FERROSZ_INVALID_ARGUMENT, "rank 4");
    CHECK_FAILS(ferrosz_compressor_set_rank(compressor, 257, error), FERROSZ_INVALID_ARGUMENT, "rank");
    CHECK_FAILS(ferrosz_compressor_set_chunk_tiles(compressor, 5, error), FERROSZ_INVALID_ARGUMENT, "chunks of 5 tiles");
    CHECK_FAILS(ferrosz_compressor_set_preference(compressor, "beauty", error), FERROSZ_INVALID_ARGUMENT, "preference");
    CHECK_FAILS(ferrosz_compressor_set_axes(compressor, "q,x", error), FERROSZ_INVALID_ARGUMENT, "axes: 'q,x'");
    CHECK_FAILS(ferrosz_compressor_set_device(compressor, "tpu", error), FERROSZ_INVALID_ARGUMENT, "'tpu' is not a device");
    CHECK_FAILS(ferrosz_compressor_choose(compressor, 0, field, 8, error), FERROSZ_INVALID_ARGUMENT, "type: 0");

    CHECK_FAILS(ferrosz_compress(NULL, FERROSZ_F32, field, 8, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "compressor");
    CHECK_FAILS(ferrosz_compress(compressor, 9, field, 8, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "type: 9");
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, NULL, 8, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "field: the pointer is null");
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, (char *)field + 1, 4, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "field: the pointer is not aligned");
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, UINT64_MAX, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "more than memory can hold");
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, 8, NULL, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "stream: the pointer is null");
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, 8, stream, sizeof stream, NULL, error), FERROSZ_INVALID_ARGUMENT, "bytes: the pointer is null");
    CHECK(ferrosz_compress(compressor, FERROSZ_F32, field, 8, stream, sizeof stream, NULL, NULL) == FERROSZ_INVALID_ARGUMENT);
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, 8, NULL, 0, &bytes, error), FERROSZ_OUTPUT_TOO_SMALL, "are needed");
    uint64_t needed = bytes;
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, 8, stream, needed - 1, &bytes, error), FERROSZ_OUTPUT_TOO_SMALL, "are needed");
    CHECK(ferrosz_compress(compressor, FERROSZ_F32, field, 8, stream, needed, &bytes, error) == FERROSZ_OK && bytes == needed);
    CHECK(needed <= ferrosz_max_stream_bytes(FERROSZ_F32, 8) && ferrosz_max_stream_bytes(0, 8) == 0);
    CHECK(ferrosz_compressor_set_extents(compressor, 2, two, error) == FERROSZ_OK);
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_F32, field, 8, stream, sizeof stream, &bytes, error), FERROSZ_INVALID_ARGUMENT, "extents [3, 3] make 9 elements, but the array has 8");
    ferrosz_compressor *preset = ferrosz_compressor_new("small", FERROSZ_ABS, 0.5, error);
    CHECK_FAILS(ferrosz_compressor_max_stream_bytes(preset, FERROSZ_F32, 8, &bytes, error), FERROSZ_INVALID_ARGUMENT, "ferrosz_compressor_choose");
    CHECK_FAILS(ferrosz_compressor_max_stream_bytes(compressor, FERROSZ_F32, UINT64_MAX / 2, &bytes, error), FERROSZ_INVALID_ARGUMENT, "extents");
    CHECK_FAILS(ferrosz_compressor_workspace_bytes(preset, FERROSZ_F32, 8, &bytes, error), FERROSZ_INVALID_ARGUMENT, "ferrosz_compressor_choose");
    CHECK_FAILS(ferrosz_compressor_workspace_bytes(compressor, FERROSZ_F32, 9, NULL, error), FERROSZ_INVALID_ARGUMENT, "the pointer is null");
    ferrosz_compressor *line = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    uint64_t of_one, of_two;
    CHECK(ferrosz_compressor_workspace_bytes(line, FERROSZ_F32, 8192, &of_one, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_workspace_bytes(line, FERROSZ_F32, 8193, &of_two, error) == FERROSZ_OK && of_two == of_one + 8);
    const uint64_t box_start = 5, box_length = 3, too_long = 8189;
    CHECK(ferrosz_compressor_box_workspace_bytes(line, FERROSZ_F32, 8192, 1, &box_start, &box_length, &of_two, error) == FERROSZ_OK && of_two == of_one);
    CHECK_FAILS(ferrosz_compressor_box_workspace_bytes(line, FERROSZ_F32, 8192, 1, &box_start, &too_long, &of_two, error), FERROSZ_INVALID_ARGUMENT, "box");
    ferrosz_compressor_free(line);
    for (int i = 0; i < 4; i++) {
        CHECK(ferrosz_compressor_add_fill_bits(preset, (uint64_t)i, error) == FERROSZ_OK);
    }
    CHECK_FAILS(ferrosz_compressor_add_fill(preset, 9, error), FERROSZ_INVALID_ARGUMENT, "more than 4 fill values");

    // The stream of eight values is still there.
    CHECK_FAILS(ferrosz_decompress(NULL, NULL, needed, FERROSZ_F32, values, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "stream: the pointer is null");
    CHECK_FAILS(ferrosz_decompress(NULL, NULL, 0, FERROSZ_F32, values, 8, &elements, error), FERROSZ_DAMAGED_STREAM, "");
    CHECK_FAILS(ferrosz_decompress(NULL, stream, needed, FERROSZ_F64, values, 4, &elements, error), FERROSZ_WRONG_TYPE, "f32 elements, not f64");
    CHECK_FAILS(ferrosz_decompress(NULL, stream, needed, FERROSZ_F32, NULL, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "values: the pointer is null");
    CHECK_FAILS(ferrosz_decompress(NULL, stream, needed, FERROSZ_F32, values, 7, &elements, error), FERROSZ_OUTPUT_TOO_SMALL, "room for 7 elements, but 8");
    CHECK(elements == 8);
    const uint64_t starts[] = {6, 0}, lengths[] = {3, 1}, huge[] = {UINT64_MAX, 1};
    CHECK_FAILS(ferrosz_decompress_box(NULL, stream, needed, 1, starts, lengths, FERROSZ_F32, values, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "the box [6..9]");
    CHECK_FAILS(ferrosz_decompress_box(NULL, stream, needed, 1, starts, huge, FERROSZ_F32, values, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "exceeds");
    CHECK_FAILS(ferrosz_decompress_box(NULL, stream, needed, 2, starts, lengths, FERROSZ_F32, values, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "box");
    CHECK_FAILS(ferrosz_decompress_box(NULL, stream, needed, 1, NULL, lengths, FERROSZ_F32, values, 8, &elements, error), FERROSZ_INVALID_ARGUMENT, "starts: the pointer is null");
    CHECK_FAILS(ferrosz_decompress_box(NULL, stream, needed, 1, starts + 1, lengths, FERROSZ_F32, values, 2, &elements, error), FERROSZ_OUTPUT_TOO_SMALL, "room for 2 elements, but 3");
    CHECK(elements == 3);
    CHECK_NULL(ferrosz_info_new(NULL, 5, error), FERROSZ_INVALID_ARGUMENT, "stream: the pointer is null");
    CHECK_NULL(ferrosz_info_new("abcde", 5, error), FERROSZ_DAMAGED_STREAM, "not a ferrosz stream");
    CHECK(ferrosz_info_type(NULL) == 0 && ferrosz_info_elements(NULL) == 0 && !*ferrosz_info_codec(NULL));

    ferrosz_decompressor *decompressor = ferrosz_decompressor_new(error);
    CHECK_FAILS(ferrosz_decompressor_set_device(decompressor, "tpu", error), FERROSZ_INVALID_ARGUMENT, "'tpu' is not a device");
    CHECK(ferrosz_decompressor_set_device(decompressor, "cpu", error) == FERROSZ_OK);
    CHECK(ferrosz_decompressor_verify_checksums(decompressor, false, error) == FERROSZ_OK);
    CHECK(ferrosz_decompress(decompressor, stream, needed, FERROSZ_F32, values, 8, NULL, error) == FERROSZ_OK);
    ferrosz_decompressor_free(decompressor);

    ferrosz_compressor_free(preset), ferrosz_compressor_free(compressor);
    ferrosz_compressor_free(NULL), ferrosz_decompressor_free(NULL), ferrosz_info_free(NULL), ferrosz_buffer_free(NULL);
    ferrosz_error_free(NULL), ferrosz_gpu_free(NULL), ferrosz_workspace_free(NULL);
    CHECK(ferrosz_error_status(NULL) == FERROSZ_OK && !*ferrosz_error_text(NULL));
    CHECK(ferrosz_buffer_data(NULL) == NULL && ferrosz_buffer_bytes(NULL) == 0);
}

// A field without elements has a stream; extents of eight axes are taken.
static void extents_of_every_number(ferrosz_error *error) {
    uint64_t extents[8] = {0, 5}, bytes, elements = 1;
    uint8_t stream[4096];
    float values[256], field[256];
    for (int i = 0; i < 256; i++) {
        field[i] = (float)i;
    }
    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.25, error);
    CHECK(ferrosz_compressor_set_extents(compressor, 2, extents, error) == FERROSZ_OK);
    CHECK(ferrosz_compress(compressor, FERROSZ_F32, NULL, 0, stream, sizeof stream, &bytes, error) == FERROSZ_OK);
    CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, NULL, 0, &elements, error) == FERROSZ_OK && elements == 0);
    for (uint64_t dimensions = 1; dimensions <= 8; dimensions++) {
        for (int i = 0; i < 8; i++) {
            extents[i] = 2;
        }
        elements = 1ull << dimensions;
        CHECK(ferrosz_compressor_set_extents(compressor, dimensions, extents, error) == FERROSZ_OK);
        CHECK(ferrosz_compress(compressor, FERROSZ_F32, field, elements, stream, sizeof stream, &bytes, error) == FERROSZ_OK);
        ferrosz_info *info = ferrosz_info_new(stream, bytes, error);
        CHECK(ferrosz_info_dimensions(info) == dimensions);
        ferrosz_info_free(info);
        CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, values, 256, NULL, error) == FERROSZ_OK);
        CHECK(fabsf(values[elements - 1] - field[elements - 1]) <= 0.25f);
    }
    ferrosz_compressor_free(compressor);
}

// Complex numbers are their parts, of which each keeps the bound; the stream says what they are.
static void complex_numbers(ferrosz_error *error) {
    enum { NUMBERS = 30 * 40 };
    static float complex field[NUMBERS], values[NUMBERS];
    static uint8_t stream[1 << 16];
    const uint64_t extents[] = {30, 40, 2};
    uint64_t bytes, elements;
    for (int i = 0; i < NUMBERS; i++) {
        field[i] = (1.0f + 0.01f * (float)(i % 40)) * cexpf(0.1f * (float)i * I);
    }
    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 1e-3, error);
    CHECK(ferrosz_compressor_set_complex(compressor, error) == FERROSZ_OK);
    for (int has_extents = 0; has_extents < 2; has_extents++) {
        if (has_extents) {
            CHECK(ferrosz_compressor_set_extents(compressor, 3, extents, error) == FERROSZ_OK);
        }
        CHECK(ferrosz_compress(compressor, FERROSZ_F32, field, 2 * NUMBERS, stream, sizeof stream, &bytes, error) == FERROSZ_OK);
        CHECK(bytes < sizeof field);
        ferrosz_info *info = ferrosz_info_new(stream, bytes, error);
        CHECK(ferrosz_info_is_complex(info) && ferrosz_info_type(info) == FERROSZ_F32);
        uint64_t dimensions = ferrosz_info_dimensions(info);
        CHECK(dimensions == (has_extents ? 3 : 2) && ferrosz_info_extents(info)[dimensions - 1] == 2);
        ferrosz_info_free(info);
        CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, values, 2 * NUMBERS, &elements, error) == FERROSZ_OK);
        CHECK(elements == 2 * NUMBERS);
        double largest = 0;
        for (int i = 0; i < NUMBERS; i++) {
            largest = fmax(largest, fabs((double)crealf(field[i]) - (double)crealf(values[i])));
            largest = fmax(largest, fabs((double)cimagf(field[i]) - (double)cimagf(values[i])));
        }
        CHECK(largest <= 1e-3 && largest > 0);
    }
    CHECK_FAILS(ferrosz_compress(compressor, FERROSZ_I16, field, 2 * NUMBERS, stream, sizeof stream, &bytes, error),
                FERROSZ_INVALID_ARGUMENT, "parts of complex numbers");
    ferrosz_compressor_free(compressor);
}

// A stream is within its bound of its original, and not of another one; the figures are those of a plain loop.
static void judged(ferrosz_error *error) {
    static double field[ELEMENTS], values[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = sin(0.001 * i);
    }
    ferrosz_compressor *compressor = compressor_of("interp", FERROSZ_RANGE, 0.01, error);
    ferrosz_buffer *buffer = ferrosz_compress_to_buffer(compressor, FERROSZ_F64, field, ELEMENTS, error);
    const void *stream = ferrosz_buffer_data(buffer);
    uint64_t bytes = ferrosz_buffer_bytes(buffer), at = 0;
    CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F64, values, ELEMENTS, NULL, error) == FERROSZ_OK);
    double largest = 0, squares = 0, least = field[0], most = field[0];
    for (int i = 0; i < ELEMENTS; i++) {
        double difference = fabs(field[i] - values[i]);
        squares += difference * difference;
        if (difference > largest) {
            largest = difference, at = (uint64_t)i;
        }
        least = fmin(least, field[i]), most = fmax(most, field[i]);
    }
    double rmse = sqrt(squares / ELEMENTS);
    ferrosz_verification *found =
        ferrosz_verification_new(NULL, FERROSZ_F64, field, ELEMENTS, stream, bytes, error);
    CHECK(ferrosz_verification_kept(found) && ferrosz_verification_over_limit(found) == 0);
    CHECK(ferrosz_verification_largest_error(found) == largest && ferrosz_verification_largest_error_at(found) == at);
    CHECK(fabs(ferrosz_verification_limit(found) - 0.01 * (most - least)) < 1e-12);
    CHECK(fabs(ferrosz_verification_rmse(found) / rmse - 1) < 1e-9);
    CHECK(fabs(ferrosz_verification_psnr(found) - 20 * log10((most - least) / rmse)) < 1e-6);
    CHECK(ferrosz_verification_ssim(found) > 0.9);
    ferrosz_verification_free(found);
    field[17] += 0.5;
    found = ferrosz_verification_new(NULL, FERROSZ_F64, field, ELEMENTS, stream, bytes, error);
    CHECK(!ferrosz_verification_kept(found) && ferrosz_verification_over_limit(found) == 1);
    CHECK(ferrosz_verification_largest_error_at(found) == 17);
    ferrosz_verification_free(found);
    CHECK_NULL(ferrosz_verification_new(NULL, FERROSZ_F64, field, 7, stream, bytes, error), FERROSZ_INVALID_ARGUMENT,
               "elements: 7, but the stream has");
    CHECK_NULL(ferrosz_verification_new(NULL, FERROSZ_F32, field, ELEMENTS, stream, bytes, error), FERROSZ_WRONG_TYPE, "f64");
    CHECK(!ferrosz_verification_kept(NULL) && isnan(ferrosz_verification_psnr(NULL)));
    ferrosz_verification_free(NULL);
    ferrosz_buffer_free(buffer), ferrosz_compressor_free(compressor);
}

// Every changed byte and every cut is found, and nothing crashes.
static void damage(ferrosz_error *error) {
    static float field[ELEMENTS], values[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = sinf(0.001f * (float)i);
    }
    const char *codecs[] = {"plain", "lorenzo+rans", "interp"};
    for (int codec = 0; codec < 3; codec++) {
        ferrosz_compressor *compressor = compressor_of(codecs[codec], FERROSZ_ABS, 0.05, error);
        ferrosz_buffer *buffer = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
        uint64_t bytes = ferrosz_buffer_bytes(buffer), damaged_chunks = 7;
        uint8_t *stream = malloc(bytes);
        memcpy(stream, ferrosz_buffer_data(buffer), bytes);
        CHECK(ferrosz_check(stream, bytes, &damaged_chunks, error) == FERROSZ_OK && damaged_chunks == 0);
        for (uint64_t at = 0; at < bytes; at++) {
            stream[at] ^= 0x10;
            CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, values, ELEMENTS, NULL, error) != FERROSZ_OK);
            CHECK(ferrosz_check(stream, bytes, NULL, error) != FERROSZ_OK && *ferrosz_error_text(error));
            stream[at] ^= 0x10;
        }
        for (uint64_t length = 0; length < bytes; length += 13) {
            // A copy of its own, so that a tool finds each access behind the end.
            uint8_t *cut = malloc(length ? length : 1);
            memcpy(cut, stream, length);
            CHECK(ferrosz_decompress(NULL, cut, length, FERROSZ_F32, values, ELEMENTS, NULL, error) == FERROSZ_DAMAGED_STREAM);
            free(cut);
        }
        stream[bytes - 1] ^= 1;
        CHECK_FAILS(ferrosz_check(stream, bytes, &damaged_chunks, error), FERROSZ_DAMAGED_STREAM, "1 damaged chunks");
        CHECK(damaged_chunks == 1);
        free(stream);
        ferrosz_buffer_free(buffer), ferrosz_compressor_free(compressor);
    }
}

// An updated box holds the new values, and all else is as before. Written by hand the update makes the same stream.
static void updates(ferrosz_error *error) {
    static float before[ELEMENTS], after[ELEMENTS];
    float *field = make_field(FERROSZ_F32), values[2 * 3 * 4];
    ferrosz_compressor *compressor = compressor_of("plain", FERROSZ_ABS, 0.5, error);
    ferrosz_buffer *buffer = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    const uint8_t *stream = ferrosz_buffer_data(buffer);
    uint64_t bytes = ferrosz_buffer_bytes(buffer);
    CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, before, ELEMENTS, NULL, error) == FERROSZ_OK);
    for (int i = 0; i < 24; i++) {
        values[i] = (float)(-100 * i);
    }
    const uint64_t starts[] = {5, 20, 30}, lengths[] = {2, 3, 4};
    ferrosz_update *update =
        ferrosz_update_new(stream, bytes, 3, starts, lengths, FERROSZ_F32, values, 24, error);
    CHECK(ferrosz_update_chunks(update) > 0 && ferrosz_update_append_at(update) == bytes);
    ferrosz_buffer *updated = ferrosz_update_apply(update, stream, bytes, error);
    uint64_t more = ferrosz_update_appended_bytes(update);
    CHECK(ferrosz_buffer_bytes(updated) == bytes + more);
    uint8_t *by_hand = malloc(bytes + more);
    memcpy(by_hand, stream, bytes);
    memcpy(by_hand + bytes, ferrosz_update_appended(update), more);
    memcpy(by_hand, ferrosz_update_header(update), ferrosz_update_header_bytes(update));
    CHECK(!memcmp(by_hand, ferrosz_buffer_data(updated), bytes + more));
    CHECK(ferrosz_decompress(NULL, by_hand, bytes + more, FERROSZ_F32, after, ELEMENTS, NULL, error) == FERROSZ_OK);
    int wrong = 0;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        uint64_t z = i / (HEIGHT * WIDTH) - 5, y = i / WIDTH % HEIGHT - 20, x = i % WIDTH - 30;
        int is_inside = z < 2 && y < 3 && x < 4;
        wrong += is_inside ? !(fabsf(after[i] - values[(z * 3 + y) * 4 + x]) <= 0.5f) : after[i] != before[i];
    }
    CHECK(wrong == 0);
    CHECK_NULL(ferrosz_update_apply(update, stream, bytes - 1, error), FERROSZ_INVALID_ARGUMENT, "stream: it has");
    CHECK_NULL(ferrosz_update_apply(NULL, stream, bytes, error), FERROSZ_INVALID_ARGUMENT, "update: the pointer is null");
    CHECK_NULL(ferrosz_update_new(stream, bytes, 3, starts, lengths, FERROSZ_F32, values, 23, error), FERROSZ_INVALID_ARGUMENT, "23");
    CHECK_NULL(ferrosz_update_new(stream, bytes, 2, starts, lengths, FERROSZ_F32, values, 6, error), FERROSZ_INVALID_ARGUMENT, "box");
    CHECK_NULL(ferrosz_update_new(stream, bytes, 3, starts, lengths, FERROSZ_F64, NULL, 0, error), FERROSZ_WRONG_TYPE, "f32");
    CHECK(ferrosz_update_appended(NULL) == NULL && ferrosz_update_header(NULL) == NULL && !ferrosz_update_chunks(NULL));
    free(by_hand), free(field);
    ferrosz_update_free(update), ferrosz_update_free(NULL);
    ferrosz_buffer_free(updated), ferrosz_buffer_free(buffer), ferrosz_compressor_free(compressor);
}

// A batch has the streams of single calls; a damaged one spoils no other.
static void batches(ferrosz_error *error) {
    enum { COUNT = 20 };
    float *field = make_field(FERROSZ_F32), *outputs[COUNT];
    const void *fields[COUNT], *streams[COUNT];
    uint64_t elements[COUNT], bytes[COUNT], rooms[COUNT];
    ferrosz_status statuses[COUNT];
    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_RANGE, 1e-3, error);
    for (int i = 0; i < COUNT; i++) {
        fields[i] = field + 4 * i, elements[i] = (uint64_t)(300 * i);
        rooms[i] = elements[i] + 1, outputs[i] = malloc(rooms[i] * sizeof *field);
    }
    ferrosz_batch *batch = ferrosz_compress_batch(compressor, FERROSZ_F32, fields, elements, COUNT, error);
    for (int i = 0; i < COUNT; i++) {
        ferrosz_buffer *single = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, fields[i], elements[i], error);
        streams[i] = ferrosz_batch_stream(batch, (uint64_t)i), bytes[i] = ferrosz_batch_stream_bytes(batch, (uint64_t)i);
        CHECK(bytes[i] == ferrosz_buffer_bytes(single) && !memcmp(streams[i], ferrosz_buffer_data(single), bytes[i]));
        ferrosz_buffer_free(single);
    }
    CHECK(ferrosz_batch_stream(batch, COUNT) == NULL && ferrosz_batch_stream_bytes(batch, COUNT) == 0);
    uint8_t *damaged = malloc(bytes[7]);
    memcpy(damaged, streams[7], bytes[7]);
    damaged[bytes[7] - 1] ^= 1;
    streams[7] = damaged, rooms[9] = 5;
    CHECK_FAILS(ferrosz_decompress_batch(NULL, streams, bytes, FERROSZ_F32, (void *const *)outputs, rooms, COUNT, statuses, error),
                FERROSZ_DAMAGED_STREAM, "streams[7]: ");
    for (int i = 0; i < COUNT; i++) {
        CHECK(statuses[i] == (i == 7 ? FERROSZ_DAMAGED_STREAM : i == 9 ? FERROSZ_OUTPUT_TOO_SMALL : FERROSZ_OK));
        float low = INFINITY, high = -INFINITY;
        for (uint64_t k = 0; k < elements[i]; k++) {
            low = fminf(low, field[4 * (uint64_t)i + k]), high = fmaxf(high, field[4 * (uint64_t)i + k]);
        }
        for (uint64_t k = 0; statuses[i] == FERROSZ_OK && k < elements[i]; k++) {
            CHECK(fabs((double)outputs[i][k] - field[4 * (uint64_t)i + k]) <= 1e-3 * ((double)high - low));
        }
    }
    streams[7] = ferrosz_batch_stream(batch, 7), rooms[9] = elements[9];
    CHECK(ferrosz_decompress_batch(NULL, streams, bytes, FERROSZ_F32, (void *const *)outputs, rooms, COUNT, NULL, error) == FERROSZ_OK);
    fields[3] = NULL;
    CHECK_NULL(ferrosz_compress_batch(compressor, FERROSZ_F32, fields, elements, COUNT, error), FERROSZ_INVALID_ARGUMENT, "fields[3]: the pointer is null");
    CHECK_NULL(ferrosz_compress_batch(compressor, FERROSZ_F32, NULL, elements, COUNT, error), FERROSZ_INVALID_ARGUMENT, "fields: the pointer is null");
    ferrosz_batch *empty = ferrosz_compress_batch(compressor, FERROSZ_F32, NULL, NULL, 0, error);
    CHECK(empty && ferrosz_batch_stream(empty, 0) == NULL);
    for (int i = 0; i < COUNT; i++) {
        free(outputs[i]);
    }
    free(damaged), free(field);
    ferrosz_batch_free(empty), ferrosz_batch_free(batch), ferrosz_batch_free(NULL), ferrosz_compressor_free(compressor);
}

// A stream reaches its target, by sums of a plain loop, and its compressor makes it again.
static void targets(ferrosz_error *error) {
    static double values[ELEMENTS];
    double *field = make_field(FERROSZ_F64);
    ferrosz_compressor *compressor = compressor_of("small", FERROSZ_ABS, 1, error);
    const char *names[] = {"psnr", "rmse", "mae", "ratio"};
    const double wanted[] = {60, 0.3, 0.2, 12};
    for (int kind = 0; kind < 4; kind++) {
        ferrosz_search *search = ferrosz_search_new(compressor, names[kind], wanted[kind], FERROSZ_F64, field, ELEMENTS, error);
        const uint8_t *stream = ferrosz_search_stream(search);
        uint64_t bytes = ferrosz_search_stream_bytes(search);
        CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F64, values, ELEMENTS, NULL, error) == FERROSZ_OK);
        double squares = 0, sum = 0, largest = 0, least = field[0], most = field[0];
        for (int i = 0; i < ELEMENTS; i++) {
            squares += (field[i] - values[i]) * (field[i] - values[i]);
            sum += fabs(field[i] - values[i]);
            largest = fmax(largest, fabs(field[i] - values[i]));
            least = fmin(least, field[i]), most = fmax(most, field[i]);
        }
        double rmse = sqrt(squares / ELEMENTS), psnr = 20 * log10((most - least) / rmse), ratio = 8.0 * ELEMENTS / (double)bytes;
        CHECK(fabs(ferrosz_search_rmse(search) / rmse - 1) < 1e-9 && fabs(ferrosz_search_psnr(search) - psnr) < 1e-6);
        CHECK(fabs(ferrosz_search_ratio(search) - ratio) < 1e-9 && largest <= ferrosz_search_bound(search));
        CHECK(fabs(ferrosz_search_mae(search) / (sum / ELEMENTS) - 1) < 1e-9);
        const double reached[] = {psnr, rmse, sum / ELEMENTS, ratio};
        CHECK(kind == 1 || kind == 2 ? reached[kind] <= wanted[kind] : reached[kind] >= wanted[kind]);
        CHECK(fabs(reached[kind] / wanted[kind] - 1) <= 0.05);
        ferrosz_compressor *found = ferrosz_search_compressor(search, error);
        ferrosz_buffer *again = ferrosz_compress_to_buffer(found, FERROSZ_F64, field, ELEMENTS, error);
        CHECK(ferrosz_buffer_bytes(again) == bytes && !memcmp(ferrosz_buffer_data(again), stream, bytes));
        ferrosz_buffer_free(again), ferrosz_compressor_free(found), ferrosz_search_free(search);
    }
    CHECK_NULL(ferrosz_search_new(compressor, "size", 3, FERROSZ_F64, field, ELEMENTS, error), FERROSZ_INVALID_ARGUMENT, "target: 'size' is none of psnr, rmse, mae, ratio");
    CHECK_NULL(ferrosz_search_new(compressor, "rmse", -1, FERROSZ_F64, field, ELEMENTS, error), FERROSZ_INVALID_ARGUMENT, "value: ");
    CHECK_NULL(ferrosz_search_new(compressor, "ratio", 1e9, FERROSZ_F64, field, ELEMENTS, error), FERROSZ_INVALID_ARGUMENT, "ratio");
    CHECK(ferrosz_search_stream(NULL) == NULL && isnan(ferrosz_search_psnr(NULL)));
    ferrosz_search_free(NULL), ferrosz_compressor_free(compressor);
    free(field);
}

// What a damaged chunk does not hold is as in the whole stream, what it holds is NaN, and all of it is named.
static void salvaged(const char *codec, ferrosz_error *error) {
    static float whole[ELEMENTS], left[ELEMENTS];
    static uint8_t lost[ELEMENTS];
    float *field = make_field(FERROSZ_F32);
    ferrosz_compressor *compressor = compressor_of(codec, FERROSZ_ABS, 0.5, error);
    CHECK(ferrosz_compressor_set_rank(compressor, strcmp(codec, "plain") ? 3 : 1, error) == FERROSZ_OK);
    ferrosz_buffer *buffer = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    uint64_t bytes = ferrosz_buffer_bytes(buffer), elements = 0, count = 0;
    uint8_t *stream = malloc(bytes);
    memcpy(stream, ferrosz_buffer_data(buffer), bytes);
    CHECK(ferrosz_decompress(NULL, stream, bytes, FERROSZ_F32, whole, ELEMENTS, NULL, error) == FERROSZ_OK);
    ferrosz_damages *damages = ferrosz_salvage(NULL, stream, bytes, FERROSZ_F32, left, ELEMENTS, &elements, error);
    CHECK(damages && ferrosz_damages_count(damages) == 0 && elements == ELEMENTS && !memcmp(left, whole, sizeof left));
    ferrosz_damages_free(damages);

    stream[bytes - 1] ^= 1;
    damages = ferrosz_salvage(NULL, stream, bytes, FERROSZ_F32, left, ELEMENTS, NULL, error);
    CHECK(ferrosz_damages_count(damages) == 1 && ferrosz_damages_dimensions(damages) == 3);
    CHECK(strstr(ferrosz_damages_cause(damages, 0), "checksum") && !*ferrosz_damages_cause(damages, 1));
    memset(lost, 0, sizeof lost);
    for (uint64_t part = 0; part < ferrosz_damages_boxes(damages, 0); part++) {
        const uint64_t *s = ferrosz_damages_starts(damages, 0, part), *n = ferrosz_damages_lengths(damages, 0, part);
        for (uint64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
            uint64_t z = s[0] + i / (n[1] * n[2]), y = s[1] + i / n[2] % n[1], x = s[2] + i % n[2];
            lost[(z * HEIGHT + y) * WIDTH + x]++;
        }
    }
    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        count += lost[i];
        wrong += lost[i] > 1 || (lost[i] ? !isnan(left[i]) : left[i] != whole[i]);
    }
    CHECK(wrong == 0 && count > 0 && count == ferrosz_damages_elements(damages, 0));
    // Chunks of lines have 8192 elements: the second one has the rest.
    CHECK(strcmp(codec, "plain") || (count == ELEMENTS - 8192 && lost[8192] && ferrosz_damages_chunk(damages, 0) == 1));
    CHECK(ferrosz_damages_starts(damages, 0, 1000) == NULL && ferrosz_damages_lengths(damages, 1, 0) == NULL);
    ferrosz_damages_free(damages), ferrosz_damages_free(NULL);
    CHECK_NULL(ferrosz_salvage(NULL, stream, bytes, FERROSZ_F32, left, 7, &elements, error), FERROSZ_OUTPUT_TOO_SMALL, "room for 7");
    CHECK(elements == ELEMENTS);
    CHECK_NULL(ferrosz_salvage(NULL, stream, bytes, FERROSZ_F64, left, 7, NULL, error), FERROSZ_WRONG_TYPE, "f32");
    stream[20] ^= 1;
    CHECK_NULL(ferrosz_salvage(NULL, stream, bytes, FERROSZ_F32, left, ELEMENTS, NULL, error), FERROSZ_DAMAGED_STREAM, "header");
    free(stream), free(field);
    ferrosz_buffer_free(buffer), ferrosz_compressor_free(compressor);
}

// 32 values of which the bytes of cuSZp are known: codes that begin with 500 and have these differences.
static void bytes_of_cuszp(ferrosz_error *error) {
    static const int steps[] = {500, 0, 1, -1, 2, -2, 3, -3, 0, 1, 1, -1, -1, 2, 0, -3,
                                3,   0, 0, 1,  -2, 2, -1, 3, -3, 0, 1, -1, 0, 2, -2, 1};
    static const uint8_t body[] = {0xf4, 0x01, 0x15, 0x19, 0x0a, 0x92, 0x33, 0x79, 0x93, 0xb1, 0x0f, 0x05, 0x8d, 0x86};
    float field[32], values[32];
    int code = 0, codes[32];
    for (int i = 0; i < 32; i++) {
        codes[i] = code += steps[i];
        field[i] = (float)(code * 0.02 + 0.004);
    }
    const uint64_t extents[] = {32};
    ferrosz_bare *bare = ferrosz_bare_new("cuszp", FERROSZ_F32, 1, extents, error);
    CHECK_NULL(ferrosz_bare_compress(bare, field, 32, error), FERROSZ_INVALID_ARGUMENT, "bare: it has no error");
    CHECK(ferrosz_bare_set_mode(bare, "outlier", error) == FERROSZ_OK && isnan(ferrosz_bare_error(bare)));
    CHECK(ferrosz_bare_set_bound(bare, FERROSZ_ABS, 0.01, false, NULL, 0, error) == FERROSZ_OK);
    CHECK(ferrosz_bare_error(bare) == 0.01f);
    ferrosz_buffer *buffer = ferrosz_bare_compress(bare, field, 32, error);
    const uint8_t *stream = ferrosz_buffer_data(buffer);
    CHECK(ferrosz_buffer_bytes(buffer) == 1024 + sizeof body && stream[0] == 0xa2 && !stream[1]);
    CHECK(!memcmp(stream + 1024, body, sizeof body));
    CHECK(ferrosz_bare_decompress(bare, stream, 1024 + sizeof body, values, 32, NULL, error) == FERROSZ_OK);
    for (int i = 0; i < 32; i++) {
        CHECK(values[i] == (float)codes[i] * 0.01f * 2);
    }
    ferrosz_outline *outline = ferrosz_outline_new(bare, stream, 1024 + sizeof body, error);
    CHECK(ferrosz_outline_rate_bytes(outline) == 1024 && ferrosz_outline_between_bytes(outline) == 0);
    CHECK(ferrosz_outline_body_bytes(outline) == sizeof body && ferrosz_outline_stream_bytes(outline) == 1024 + sizeof body);
    CHECK(ferrosz_outline_zero_blocks(outline) == 1023 && ferrosz_outline_blocks(outline, 0) == 1023);
    CHECK(ferrosz_outline_blocks(outline, 0xa2) == 1 && ferrosz_outline_block_bytes(outline, 0xa2) == sizeof body);
    CHECK(ferrosz_outline_blocks(outline, 7) == 0 && ferrosz_outline_blocks(NULL, 0) == 0);
    ferrosz_outline_free(outline), ferrosz_outline_free(NULL);
    ferrosz_buffer_free(buffer), ferrosz_bare_free(bare), ferrosz_bare_free(NULL);
}

// Streams without header come back whole and in parts, and parts are replaced, within the bound of a plain quantiser.
static void bare_streams(const char *format, const char *mode, uint32_t rank, bool v1, ferrosz_type type, ferrosz_error *error) {
    static double whole[ELEMENTS], part[ELEMENTS], again[ELEMENTS];
    void *field = make_field(type);
    size_t size = size_of(type);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < ELEMENTS; i++) {
        low = fmin(low, number(type, field, i)), high = fmax(high, number(type, field, i));
    }
    ferrosz_bare *bare = ferrosz_bare_new(format, type, 3, EXTENTS, error);
    if (mode) {
        CHECK(ferrosz_bare_set_mode(bare, mode, error) == FERROSZ_OK && ferrosz_bare_set_v1(bare, v1, error) == FERROSZ_OK);
        CHECK(ferrosz_bare_set_rank(bare, rank, error) == FERROSZ_OK && ferrosz_bare_set_strict(bare, true, error) == FERROSZ_OK);
    }
    CHECK(ferrosz_bare_set_device(bare, "cpu", error) == FERROSZ_OK);
    CHECK(ferrosz_bare_set_bound(bare, FERROSZ_RANGE, 1e-3, false, field, ELEMENTS, error) == FERROSZ_OK);
    double bound = ferrosz_bare_error(bare);
    CHECK(bound == (type == FERROSZ_F32 ? (double)(1e-3f * ((float)high - (float)low)) : 1e-3 * (high - low)));
    ferrosz_buffer *buffer = ferrosz_bare_compress(bare, field, ELEMENTS, error);
    uint64_t bytes = ferrosz_buffer_bytes(buffer), elements = 0, units = 0;
    uint8_t *stream = malloc(bytes + 1);
    memcpy(stream, ferrosz_buffer_data(buffer), bytes);
    CHECK(ferrosz_bare_decompress(bare, stream, bytes, whole, ELEMENTS, &elements, error) == FERROSZ_OK && elements == ELEMENTS);
    int wrong = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        wrong += !(fabs(number(type, whole, i) - number(type, field, i)) <= 1.001 * bound);
    }
    CHECK(wrong == 0 && ferrosz_bare_check(bare, stream, bytes, error) == FERROSZ_OK);

    const uint64_t starts[] = {1, 7, 30}, lengths[] = {5, 13, 10};
    CHECK(ferrosz_bare_decompress_box(bare, stream, bytes, 3, starts, lengths, part, 650, &elements, error) == FERROSZ_OK);
    for (uint64_t i = 0; i < 650; i++) {
        uint64_t at = ((1 + i / 130) * HEIGHT + 7 + i / 10 % 13) * WIDTH + 30 + i % 10;
        wrong += number(type, part, i) != number(type, whole, at);
    }
    CHECK(elements == 650 && wrong == 0);
    CHECK(ferrosz_bare_decompress_elements(bare, stream, bytes, 1234, 3000, part, 3000, error) == FERROSZ_OK);
    CHECK(!memcmp(part, (char *)whole + 1234 * size, 3000 * size));

    // Decoded values have the codes that they came from, so all bodies keep their lengths.
    CHECK(ferrosz_bare_replace_elements(bare, stream, bytes, 1234, part, 3000, &units, error) == FERROSZ_OK && units > 0);
    CHECK(ferrosz_bare_decompress(bare, stream, bytes, again, ELEMENTS, NULL, error) == FERROSZ_OK);
    CHECK(!memcmp(again, whole, ELEMENTS * size));
    for (size_t i = 0; i < ELEMENTS; i++) {
        set_number(type, again, i, i % 2 ? 1e5 : -1e5);
    }
    memcpy(part, stream, bytes);
    CHECK_FAILS(ferrosz_bare_replace_box(bare, stream, bytes, 3, starts, lengths, again, 650, &units, error), FERROSZ_INVALID_ARGUMENT, "cannot be replaced in place");
    CHECK(units == 0 && !memcmp(part, stream, bytes));

    stream[bytes] = 0;
    CHECK_FAILS(ferrosz_bare_check(bare, stream, bytes + 1, error), FERROSZ_DAMAGED_STREAM, "more than the");
    CHECK(ferrosz_bare_decompress(bare, stream, bytes + 1, again, ELEMENTS, NULL, error) == FERROSZ_OK);
    CHECK(ferrosz_bare_decompress(bare, stream, bytes - 1, again, ELEMENTS, NULL, error) == FERROSZ_DAMAGED_STREAM);
    CHECK(ferrosz_bare_check(bare, stream, bytes / 2, error) == FERROSZ_DAMAGED_STREAM);
    free(stream), free(field);
    ferrosz_buffer_free(buffer), ferrosz_bare_free(bare);
}

static void wrong_bare_streams(ferrosz_error *error) {
    float values[8] = {0};
    const uint64_t extents[] = {2, 4, 1, 1}, start[] = {7}, length[] = {2};
    CHECK_NULL(ferrosz_bare_new("zfp", FERROSZ_F32, 1, extents, error), FERROSZ_INVALID_ARGUMENT, "format: 'zfp' is neither");
    CHECK_NULL(ferrosz_bare_new("cuszp", FERROSZ_I32, 1, extents, error), FERROSZ_INVALID_ARGUMENT, "type: ");
    CHECK_NULL(ferrosz_bare_new("cuszp", FERROSZ_F32, 4, extents, error), FERROSZ_INVALID_ARGUMENT, "4 dimensions");
    ferrosz_bare *bare = ferrosz_bare_new("aatrox", FERROSZ_F32, 4, extents, error);
    CHECK_FAILS(ferrosz_bare_set_mode(bare, "plain", error), FERROSZ_INVALID_ARGUMENT, "aatrox has no modes");
    ferrosz_bare_free(bare);
    bare = ferrosz_bare_new("cuszp", FERROSZ_F32, 2, extents, error);
    CHECK_FAILS(ferrosz_bare_set_mode(bare, "best", error), FERROSZ_INVALID_ARGUMENT, "mode: 'best'");
    CHECK_FAILS(ferrosz_bare_set_rank(bare, 4, error), FERROSZ_INVALID_ARGUMENT, "rank: 4");
    CHECK_FAILS(ferrosz_bare_set_bound(bare, FERROSZ_RANGE, 1e-3, false, values, 8, error), FERROSZ_INVALID_ARGUMENT, "bound: ");
    CHECK_FAILS(ferrosz_bare_set_bound(bare, FERROSZ_PWREL, 1e-3, false, values, 8, error), FERROSZ_INVALID_ARGUMENT, "bound: ");
    CHECK(ferrosz_bare_set_bound(bare, FERROSZ_ABS, 1e-3, true, NULL, 0, error) == FERROSZ_OK);
    CHECK_NULL(ferrosz_bare_compress(bare, values, 7, error), FERROSZ_INVALID_ARGUMENT, "7");
    CHECK_NULL(ferrosz_bare_compress(NULL, values, 8, error), FERROSZ_INVALID_ARGUMENT, "bare: the pointer is null");
    ferrosz_buffer *buffer = ferrosz_bare_compress(bare, values, 8, error);
    const void *stream = ferrosz_buffer_data(buffer);
    uint64_t bytes = ferrosz_buffer_bytes(buffer), elements = 0;
    CHECK_FAILS(ferrosz_bare_decompress(bare, stream, bytes, values, 5, &elements, error), FERROSZ_OUTPUT_TOO_SMALL, "5");
    CHECK(elements == 8);
    CHECK_FAILS(ferrosz_bare_decompress_elements(bare, stream, bytes, 7, 2, values, 8, error), FERROSZ_INVALID_ARGUMENT, "7..9");
    CHECK_FAILS(ferrosz_bare_decompress_box(bare, stream, bytes, 1, start, length, values, 8, NULL, error), FERROSZ_INVALID_ARGUMENT, "dimensions");
    ferrosz_buffer_free(buffer), ferrosz_bare_free(bare);
}

static void all_bare_streams(ferrosz_error *error) {
    const char *modes[] = {"fixed", "plain", "outlier"};
    const ferrosz_type types[] = {FERROSZ_F32, FERROSZ_F64};
    bytes_of_cuszp(error);
    wrong_bare_streams(error);
    for (int type = 0; type < 2; type++) {
        for (int mode = 0; mode < 3; mode++) {
            for (uint32_t rank = 1; rank <= 3; rank++) {
                bare_streams("cuszp", modes[mode], rank, false, types[type], error);
            }
        }
        bare_streams("cuszp", "plain", 1, true, types[type], error);
        bare_streams("aatrox", NULL, 0, false, types[type], error);
    }
}

struct task {
    const ferrosz_compressor *compressor;
    const float *field;
    ferrosz_buffer *stream;
    int is_right;
};

static void *work(void *argument) {
    struct task *task = argument;
    ferrosz_error *error = ferrosz_error_new();
    float *values = malloc(ELEMENTS * sizeof *values);
    task->is_right = 1;
    for (int i = 0; i < 4; i++) {
        ferrosz_buffer_free(task->stream);
        task->stream = ferrosz_compress_to_buffer(task->compressor, FERROSZ_F32, task->field, ELEMENTS, error);
        // An error of this thread is not seen by the others.
        task->is_right &= ferrosz_info_new("x", 1, error) == NULL && *ferrosz_error_text(error);
        ferrosz_status status = ferrosz_decompress(NULL, ferrosz_buffer_data(task->stream), ferrosz_buffer_bytes(task->stream),
                                                   FERROSZ_F32, values, ELEMENTS, NULL, error);
        task->is_right &= status == FERROSZ_OK && !*ferrosz_error_text(error);
    }
    free(values);
    ferrosz_error_free(error);
    return NULL;
}

static void threads(ferrosz_error *error) {
    enum { THREADS = 16 };
    float *field = make_field(FERROSZ_F32);
    ferrosz_compressor *compressor = compressor_of("small", FERROSZ_RANGE, 1e-3, error);
    struct task tasks[THREADS];
    pthread_t started[THREADS];
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){compressor, field, NULL, 0};
        CHECK(pthread_create(&started[i], NULL, work, &tasks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(started[i], NULL);
        const ferrosz_buffer *first = tasks[0].stream, *stream = tasks[i].stream;
        CHECK(tasks[i].is_right && ferrosz_buffer_bytes(stream) == ferrosz_buffer_bytes(first) &&
              !memcmp(ferrosz_buffer_data(stream), ferrosz_buffer_data(first), ferrosz_buffer_bytes(first)));
    }
    for (int i = 0; i < THREADS; i++) {
        ferrosz_buffer_free(tasks[i].stream);
    }
    ferrosz_compressor_free(compressor);
    free(field);
}

static void without_a_gpu(ferrosz_error *error) {
    ferrosz_gpu *gpu = ferrosz_gpu_new(1000, error);
    CHECK(gpu == NULL && ferrosz_error_status(error) == FERROSZ_NO_DEVICE && strstr(ferrosz_error_text(error), "cuda"));
    CHECK_FAILS(ferrosz_gpu_compress(NULL, NULL, NULL, FERROSZ_F32, NULL, 1, NULL, 1, NULL, error), FERROSZ_INVALID_ARGUMENT, "gpu: the pointer is null");
    CHECK_FAILS(ferrosz_gpu_decompress(NULL, NULL, NULL, NULL, NULL, 1, FERROSZ_F32, 1, NULL, 1, NULL, error), FERROSZ_INVALID_ARGUMENT, "gpu: the pointer is null");
    uint64_t bytes = 7;
    CHECK_FAILS(ferrosz_gpu_update(NULL, NULL, NULL, 1, 0, NULL, NULL, FERROSZ_F32, NULL, 0, &bytes, error), FERROSZ_INVALID_ARGUMENT, "gpu: the pointer is null");
    CHECK_FAILS(ferrosz_gpu_compact(NULL, NULL, NULL, 1, NULL, 1, &bytes, error), FERROSZ_INVALID_ARGUMENT, "gpu: the pointer is null");
    CHECK_NULL(ferrosz_workspace_new(NULL, NULL, NULL, FERROSZ_F32, 1, error), FERROSZ_INVALID_ARGUMENT, "gpu: the pointer is null");
    CHECK(ferrosz_workspace_fault_cell(NULL) == NULL && ferrosz_workspace_stream_bytes_cell(NULL) == NULL);
}

int main(void) {
    ferrosz_error *error = ferrosz_error_new();
    every_type_and_bound(error);
    fills_signs_and_zeros(error);
    wrong_arguments(error);
    extents_of_every_number(error);
    complex_numbers(error);
    judged(error);
    damage(error);
    updates(error);
    batches(error);
    targets(error);
    salvaged("plain", error), salvaged("lorenzo+rans", error), salvaged("interp", error);
    all_bare_streams(error);
    threads(error);
    without_a_gpu(error);
    ferrosz_error_free(error);
    printf("version %s: %d checks, %d failures\n", ferrosz_version(), checks, failures);
    return failures > 0;
}
