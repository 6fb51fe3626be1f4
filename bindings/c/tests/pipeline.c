// Pipelines of the interpolator and a stage: round trips, faults, and the rules that have names.

#include <ferrosz.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Z = 12, Y = 30, X = 40, ELEMENTS = Z * Y * X };

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, ferrosz_error_text(error)); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static ferrosz_error *error;
static float field[ELEMENTS], back[ELEMENTS];
static double wide[ELEMENTS];

static const char *const STAGES[] = {"rans", "huffman", "bit-planes", "fixed-length", "ferrosz", "plain"};

static ferrosz_pipeline *new_pipeline(const char *stage) {
    const uint64_t extents[] = {Z, Y, X};
    ferrosz_pipeline *pipeline = ferrosz_pipeline_new(stage, FERROSZ_ABS, 1e-3, error);
    CHECK(pipeline);
    CHECK(ferrosz_pipeline_set_extents(pipeline, 3, extents, error) == FERROSZ_OK);
    CHECK(ferrosz_pipeline_set_device(pipeline, "cpu", error) == FERROSZ_OK);
    return pipeline;
}

// Compresses and decompresses; returns the bytes of the container.
static uint64_t round_trip(const ferrosz_pipeline *pipeline) {
    ferrosz_buffer *container = ferrosz_pipeline_compress(pipeline, FERROSZ_F32, field, ELEMENTS, error);
    CHECK(container);
    uint64_t bytes = ferrosz_buffer_bytes(container), elements = 0;
    CHECK(ferrosz_pipeline_decompress("cpu", ferrosz_buffer_data(container), bytes, FERROSZ_F32, back, ELEMENTS,
                                      &elements, error) == FERROSZ_OK);
    CHECK(elements == ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) {
        CHECK(i == 77 ? isnan(back[i]) : fabs((double)field[i] - back[i]) <= 1e-3);
    }
    ferrosz_buffer_free(container);
    return bytes;
}

static void stages(void) {
    for (int i = 0; i < (int)(sizeof STAGES / sizeof *STAGES); i++) {
        ferrosz_pipeline *pipeline = new_pipeline(STAGES[i]);
        uint64_t bytes = round_trip(pipeline);
        CHECK(bytes > 408 && bytes < 3 * ELEMENTS);
        for (uint32_t width = 1; width <= 4; width *= 2) {
            CHECK(ferrosz_pipeline_set_codes(pipeline, width, width == 2, error) == FERROSZ_OK);
            round_trip(pipeline);
        }
        CHECK(ferrosz_pipeline_set_codes(pipeline, 3, false, error) == FERROSZ_INVALID_ARGUMENT);
        ferrosz_pipeline_free(pipeline);
    }
}

static void rules(void) {
    ferrosz_pipeline *pipeline = new_pipeline("plain");
    for (uint32_t mode = 0; mode <= 5; mode++) {
        CHECK(ferrosz_pipeline_set_mode(pipeline, mode, 0, 0, error) == FERROSZ_OK);
        round_trip(pipeline);
    }
    CHECK(ferrosz_pipeline_set_mode(pipeline, 6, 0, 0, error) == FERROSZ_INVALID_ARGUMENT);
    CHECK(ferrosz_pipeline_set_mode(pipeline, 5, 0.5, 0, error) == FERROSZ_INVALID_ARGUMENT);
    CHECK(ferrosz_pipeline_set_mode(pipeline, 5, 1.5, 0, error) == FERROSZ_OK);
    // A small radius has more outliers, so the container is longer.
    CHECK(ferrosz_pipeline_set_radius(pipeline, 0, error) == FERROSZ_OK);
    uint64_t fits = round_trip(pipeline);
    CHECK(ferrosz_pipeline_set_radius(pipeline, 2, error) == FERROSZ_OK);
    CHECK(round_trip(pipeline) > fits);
    CHECK(ferrosz_pipeline_set_radius(pipeline, 99999, error) == FERROSZ_OK);
    CHECK(!ferrosz_pipeline_compress(pipeline, FERROSZ_F32, field, ELEMENTS, error));
    CHECK(strstr(ferrosz_error_text(error), "99999"));
    CHECK(ferrosz_pipeline_set_rank(pipeline, 2, error) == FERROSZ_OK);
    CHECK(ferrosz_pipeline_set_rank(pipeline, 4, error) == FERROSZ_INVALID_ARGUMENT);
    ferrosz_pipeline_free(pipeline);
}

static void faults(void) {
    CHECK(!ferrosz_pipeline_new("zstd", FERROSZ_ABS, 1e-3, error));
    CHECK(strstr(ferrosz_error_text(error), "'zstd'"));
    CHECK(!ferrosz_pipeline_new(NULL, FERROSZ_ABS, 1e-3, error));
    CHECK(!ferrosz_pipeline_new("rans", FERROSZ_ABS, -1, error));
    ferrosz_pipeline_free(NULL);
    ferrosz_pipeline *pipeline = new_pipeline("rans");
    CHECK(!ferrosz_pipeline_compress(pipeline, FERROSZ_I32, field, ELEMENTS, error));
    CHECK(!ferrosz_pipeline_compress(pipeline, FERROSZ_F32, NULL, ELEMENTS, error));
    CHECK(!ferrosz_pipeline_compress(pipeline, FERROSZ_F32, field, ELEMENTS - 1, error));
    ferrosz_buffer *container = ferrosz_pipeline_compress(pipeline, FERROSZ_F32, field, ELEMENTS, error);
    uint64_t bytes = ferrosz_buffer_bytes(container), elements = 0;
    const uint8_t *data = ferrosz_buffer_data(container);
    CHECK(ferrosz_pipeline_decompress(NULL, data, bytes, FERROSZ_F32, back, 5, &elements, error) ==
          FERROSZ_OUTPUT_TOO_SMALL);
    CHECK(elements == ELEMENTS);
    CHECK(ferrosz_pipeline_decompress(NULL, data, bytes, FERROSZ_F64, wide, ELEMENTS, NULL, error) ==
          FERROSZ_WRONG_TYPE);
    uint8_t *damaged = malloc(bytes);
    memcpy(damaged, data, bytes);
    damaged[500] ^= 4;
    CHECK(ferrosz_pipeline_decompress(NULL, damaged, bytes, FERROSZ_F32, back, ELEMENTS, NULL, error) ==
          FERROSZ_DAMAGED_STREAM);
    CHECK(strstr(ferrosz_error_text(error), "codes"));
    CHECK(ferrosz_pipeline_decompress(NULL, data, bytes - 4, FERROSZ_F32, back, ELEMENTS, NULL, error) ==
          FERROSZ_DAMAGED_STREAM);
    free(damaged);
    ferrosz_buffer_free(container), ferrosz_pipeline_free(pipeline);
}

int main(void) {
    error = ferrosz_error_new();
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = sinf(0.1f * (float)(i % X)) + cosf(0.01f * (float)(i / X));
    }
    field[77] = NAN;
    stages();
    rules();
    faults();
    ferrosz_error_free(error);
    puts("pipelines: all passed");
    return 0;
}
