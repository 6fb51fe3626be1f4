// Tests of the C interface: every type and bound, errors and their texts, damage, threads. Prints the number of checks.

#include <ferrosz.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

#define CHECK(condition)                                                           \
    do {                                                                           \
        checks++;                                                                  \
        if (!(condition)) {                                                        \
            failures++;                                                            \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);      \
        }                                                                          \
    } while (0)

// The call has this status, and its text has these words.
#define CHECK_FAILS(call, expected, words)                                                                \
    do {                                                                                                  \
        checks++;                                                                                         \
        ferrosz_status status = (call);                                                                   \
        if (status != (expected) || status != ferrosz_error_status(error) ||                              \
            !strstr(ferrosz_error_text(error), words)) {                                                  \
            failures++;                                                                                   \
            fprintf(stderr, "line %d: %s\n  status %d, text '%s'\n", __LINE__, #call, status,             \
                    ferrosz_error_text(error));                                                           \
        }                                                                                                 \
    } while (0)

// As CHECK_FAILS, for a call that returns an object.
#define CHECK_NULL(call, expected, words) \
    CHECK_FAILS((call) == NULL ? ferrosz_error_status(error) : FERROSZ_OK, expected, words)

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
    threads(error);
    without_a_gpu(error);
    ferrosz_error_free(error);
    printf("version %s: %d checks, %d failures\n", ferrosz_version(), checks, failures);
    return failures > 0;
}
