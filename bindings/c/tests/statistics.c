// Tests of statistics and of searches for values, against plain loops over the whole field. Prints the number of checks.

#include "check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { DEPTH = 9, HEIGHT = 70, WIDTH = 220, ELEMENTS = DEPTH * HEIGHT * WIDTH };
static const uint64_t EXTENTS[] = {DEPTH, HEIGHT, WIDTH};
static const float HOLE = -999;
static float field[ELEMENTS], decoded[ELEMENTS];

// A slope with waves. Some values are missing.
static void make_field(void) {
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = i % 11 == 3 ? HOLE : i % 13 == 5 ? NAN : 0.01f * (float)i + sinf((float)i);
    }
}

static int is_missing(float value) {
    return isnan(value) || value == HOLE;
}

// Count, smallest and largest value, and sum of values that are not missing.
struct numbers {
    uint64_t count;
    double min, max, sum;
};

static void take(struct numbers *numbers, float value) {
    if (!is_missing(value)) {
        numbers->count++;
        numbers->min = fmin(numbers->min, value);
        numbers->max = fmax(numbers->max, value);
        numbers->sum += value;
    }
}

static const struct numbers NONE = {0, INFINITY, -INFINITY, 0};

static int is_mean(double mean, const struct numbers *numbers) {
    return fabs(mean - numbers->sum / (double)numbers->count) <= 1e-9 * fabs(mean);
}

static ferrosz_compressor *compressor_of(const char *codec, ferrosz_error *error) {
    ferrosz_compressor *compressor = ferrosz_compressor_new(codec, FERROSZ_ABS, 1e-3, error);
    CHECK(ferrosz_compressor_set_extents(compressor, 3, EXTENTS, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_add_fill(compressor, HOLE, error) == FERROSZ_OK);
    return compressor;
}

// Takes the values of a box of the field, and counts how often each element was seen.
static void take_box(struct numbers *numbers, const uint64_t *starts, const uint64_t *lengths, int *seen) {
    for (uint64_t z = starts[0]; z < starts[0] + lengths[0]; z++) {
        for (uint64_t y = starts[1]; y < starts[1] + lengths[1]; y++) {
            for (uint64_t x = starts[2]; x < starts[2] + lengths[2]; x++) {
                uint64_t element = (z * HEIGHT + y) * WIDTH + x;
                seen[element]++;
                take(numbers, field[element]);
            }
        }
    }
}

// The numbers of every group are those of the values in its boxes, and the boxes of all groups are the field.
static void check_groups(const ferrosz_statistics *found, ferrosz_error *error) {
    int *seen = calloc(ELEMENTS, sizeof *seen);
    for (uint64_t group = 0; group < ferrosz_statistics_groups(found); group++) {
        ferrosz_boxes *boxes = ferrosz_statistics_group_boxes(found, group, error);
        struct numbers numbers = NONE;
        CHECK(ferrosz_boxes_count(boxes) > 0);
        for (uint64_t number = 0; number < ferrosz_boxes_count(boxes); number++) {
            take_box(&numbers, ferrosz_boxes_starts(boxes, number), ferrosz_boxes_lengths(boxes, number), seen);
        }
        CHECK(ferrosz_boxes_starts(boxes, ferrosz_boxes_count(boxes)) == NULL);
        CHECK(ferrosz_boxes_lengths(boxes, UINT64_MAX) == NULL);
        CHECK(ferrosz_statistics_group_count(found, group) == numbers.count);
        CHECK(ferrosz_statistics_group_min(found, group) == numbers.min);
        CHECK(ferrosz_statistics_group_max(found, group) == numbers.max);
        CHECK(is_mean(ferrosz_statistics_group_mean(found, group), &numbers));
        ferrosz_boxes_free(boxes);
    }
    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        wrong += seen[i] != 1;
    }
    CHECK(wrong == 0);
    free(seen);
}

static void check_statistics(const ferrosz_statistics *found, ferrosz_error *error) {
    struct numbers numbers = NONE;
    for (int i = 0; i < ELEMENTS; i++) {
        take(&numbers, field[i]);
    }
    CHECK(ferrosz_statistics_exist(found) && !ferrosz_statistics_are_outdated(found));
    CHECK(ferrosz_statistics_count(found) == numbers.count);
    CHECK(ferrosz_statistics_min(found) == numbers.min && ferrosz_statistics_max(found) == numbers.max);
    CHECK(is_mean(ferrosz_statistics_mean(found), &numbers));
    CHECK(ferrosz_statistics_bytes(found) > 0 && ferrosz_statistics_group_chunks(found) > 0);
    check_groups(found, error);
}

// The matches are the decoded values from `low` to `high`. Frees them, and returns whether not all chunks were read.
static int check_matches(ferrosz_matches *found, double low, double high) {
    const uint64_t *elements = ferrosz_matches_elements(found);
    const double *values = ferrosz_matches_values(found);
    uint64_t count = 0, wrong = 0;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        if (!is_missing(decoded[i]) && decoded[i] >= low && decoded[i] <= high) {
            wrong += count >= ferrosz_matches_count(found) || elements[count] != i || values[count] != decoded[i];
            count++;
        }
    }
    CHECK(found && wrong == 0 && ferrosz_matches_count(found) == count);
    CHECK(ferrosz_matches_chunks_read(found) <= ferrosz_matches_chunks(found));
    CHECK(ferrosz_matches_bytes_read(found) > 0);
    int has_less = ferrosz_matches_chunks_read(found) < ferrosz_matches_chunks(found);
    ferrosz_matches_free(found);
    return has_less;
}

static void write_file(const char *path, const ferrosz_buffer *stream) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(ferrosz_buffer_data(stream), 1, ferrosz_buffer_bytes(stream), file) == ferrosz_buffer_bytes(stream));
    CHECK(file && fclose(file) == 0);
}

static void with_statistics(const char *codec, const char *axes, const char *path, ferrosz_error *error) {
    ferrosz_compressor *compressor = compressor_of(codec, error);
    CHECK(ferrosz_compressor_set_axes(compressor, axes, error) == FERROSZ_OK);
    CHECK(ferrosz_compressor_add_statistics(compressor, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    const void *data = ferrosz_buffer_data(stream);
    uint64_t bytes = ferrosz_buffer_bytes(stream);
    CHECK(ferrosz_decompress(NULL, data, bytes, FERROSZ_F32, decoded, ELEMENTS, NULL, error) == FERROSZ_OK);
    write_file(path, stream);

    ferrosz_statistics *found = ferrosz_statistics_new(data, bytes, error);
    check_statistics(found, error);
    CHECK_NULL(ferrosz_statistics_group_boxes(found, ferrosz_statistics_groups(found), error), FERROSZ_INVALID_ARGUMENT, "number: there is no group");
    CHECK(isnan(ferrosz_statistics_group_min(found, UINT64_MAX)) && ferrosz_statistics_group_count(found, UINT64_MAX) == 0);
    ferrosz_statistics_free(found);
    found = ferrosz_statistics_of_file(path, error);
    check_statistics(found, error);
    ferrosz_statistics_free(found);

    const double limits[][2] = {{1380, INFINITY}, {-INFINITY, 5}, {700, 701}, {HOLE, HOLE}, {-INFINITY, INFINITY}, {2, 1},
                                {decoded[1000], decoded[1000]}, {decoded[1000], decoded[1009]}};
    int with_less = 0;
    for (int i = 0; i < 8; i++) {
        double low = limits[i][0], high = limits[i][1];
        with_less += check_matches(ferrosz_matches_new(NULL, data, bytes, low, high, error), low, high);
        with_less += check_matches(ferrosz_matches_of_file(NULL, path, low, high, error), low, high);
    }
    CHECK(with_less >= 4);
    ferrosz_matches *few = ferrosz_matches_of_file(NULL, path, 1e9, INFINITY, error);
    CHECK(ferrosz_matches_have_statistics(few) && ferrosz_matches_chunks_read(few) == 0);
    CHECK(ferrosz_matches_bytes_read(few) < bytes / 2);
    ferrosz_matches_free(few);
    ferrosz_buffer_free(stream), ferrosz_compressor_free(compressor);
}

// A stream without statistics is no failure. Small statistics are left out of a short stream.
static void without_statistics(const char *path, ferrosz_error *error) {
    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    CHECK(ferrosz_compressor_add_small_statistics(compressor, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, (const float[]){1, 2, NAN, 4}, 4, error);
    write_file(path, stream);
    ferrosz_statistics *found = ferrosz_statistics_of_file(path, error);
    CHECK(found && ferrosz_error_status(error) == FERROSZ_OK && !ferrosz_statistics_exist(found));
    CHECK(isnan(ferrosz_statistics_min(found)) && isnan(ferrosz_statistics_max(found)) && isnan(ferrosz_statistics_mean(found)));
    CHECK(ferrosz_statistics_groups(found) == 0 && ferrosz_statistics_count(found) == 0);
    CHECK_NULL(ferrosz_statistics_group_boxes(found, 0, error), FERROSZ_INVALID_ARGUMENT, "there is no group 0 of 0");
    ferrosz_statistics_free(found);
    ferrosz_matches *matches = ferrosz_matches_new(NULL, ferrosz_buffer_data(stream), ferrosz_buffer_bytes(stream), 3, 5, error);
    CHECK(ferrosz_matches_count(matches) == 1 && ferrosz_matches_elements(matches)[0] == 3);
    CHECK(!ferrosz_matches_have_statistics(matches) && ferrosz_matches_chunks_read(matches) == ferrosz_matches_chunks(matches));
    ferrosz_matches_free(matches), ferrosz_buffer_free(stream), ferrosz_compressor_free(compressor);
}

// Statistics of a field whose values are all missing, and after an update.
static void missing_and_updated(ferrosz_error *error) {
    const float missing[3] = {NAN, NAN, NAN}, one = 7;
    ferrosz_compressor *compressor = ferrosz_compressor_new("plain", FERROSZ_ABS, 0.5, error);
    CHECK(ferrosz_compressor_add_statistics(compressor, error) == FERROSZ_OK);
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, missing, 3, error);
    const void *data = ferrosz_buffer_data(stream);
    uint64_t bytes = ferrosz_buffer_bytes(stream), start = 1, length = 1;
    ferrosz_statistics *found = ferrosz_statistics_new(data, bytes, error);
    CHECK(ferrosz_statistics_exist(found) && ferrosz_statistics_count(found) == 0);
    CHECK(isnan(ferrosz_statistics_min(found)) && isnan(ferrosz_statistics_group_max(found, 0)));
    ferrosz_statistics_free(found);

    ferrosz_update *update = ferrosz_update_new(data, bytes, 1, &start, &length, FERROSZ_F32, &one, 1, error);
    ferrosz_buffer *updated = ferrosz_update_apply(update, data, bytes, error);
    found = ferrosz_statistics_new(ferrosz_buffer_data(updated), ferrosz_buffer_bytes(updated), error);
    CHECK(ferrosz_statistics_are_outdated(found));
    ferrosz_matches *matches = ferrosz_matches_new(NULL, ferrosz_buffer_data(updated), ferrosz_buffer_bytes(updated), 6, 8, error);
    CHECK(ferrosz_matches_count(matches) == 1 && ferrosz_matches_elements(matches)[0] == 1);
    ferrosz_matches_free(matches), ferrosz_statistics_free(found), ferrosz_update_free(update);
    ferrosz_buffer_free(updated), ferrosz_buffer_free(stream), ferrosz_compressor_free(compressor);
}

static void refused(const char *path, ferrosz_error *error) {
    CHECK_FAILS(ferrosz_compressor_add_statistics(NULL, error), FERROSZ_INVALID_ARGUMENT, "compressor: the pointer is null");
    CHECK_NULL(ferrosz_statistics_new(NULL, 9, error), FERROSZ_INVALID_ARGUMENT, "stream: the pointer is null");
    CHECK_NULL(ferrosz_statistics_new("no stream", 9, error), FERROSZ_DAMAGED_STREAM, "");
    CHECK_NULL(ferrosz_statistics_of_file(NULL, error), FERROSZ_INVALID_ARGUMENT, "path: the pointer is null");
    CHECK_NULL(ferrosz_statistics_of_file("no/such/file", error), FERROSZ_READ_FAILED, "'no/such/file'");
    CHECK_NULL(ferrosz_statistics_of_file(".", error), FERROSZ_READ_FAILED, "cannot read");
    CHECK_NULL(ferrosz_statistics_group_boxes(NULL, 0, error), FERROSZ_INVALID_ARGUMENT, "statistics: the pointer is null");
    CHECK_NULL(ferrosz_matches_of_file(NULL, "no/such/file", 0, 1, error), FERROSZ_READ_FAILED, "'no/such/file'");
    CHECK_NULL(ferrosz_matches_of_file(NULL, path, NAN, 1, error), FERROSZ_INVALID_ARGUMENT, "low: it is NaN");
    CHECK_NULL(ferrosz_matches_of_file(NULL, path, 0, NAN, error), FERROSZ_INVALID_ARGUMENT, "high: it is NaN");
    CHECK(ferrosz_matches_count(NULL) == 0 && ferrosz_matches_elements(NULL) == NULL && ferrosz_matches_values(NULL) == NULL);
    CHECK(!ferrosz_statistics_exist(NULL) && isnan(ferrosz_statistics_min(NULL)) && ferrosz_boxes_count(NULL) == 0);
    ferrosz_statistics_free(NULL), ferrosz_matches_free(NULL), ferrosz_boxes_free(NULL);
}

int main(void) {
    const char *path = "statistics.fsz";
    ferrosz_error *error = ferrosz_error_new();
    make_field();
    with_statistics("plain", "z,y,x", path, error);
    with_statistics("plain", "x,y,z", path, error);
    with_statistics("interp", "s,y,x", path, error);
    without_statistics(path, error);
    missing_and_updated(error);
    refused(path, error);
    remove(path);
    ferrosz_error_free(error);
    printf("statistics: %d checks, %d failures\n", checks, failures);
    return failures > 0;
}
