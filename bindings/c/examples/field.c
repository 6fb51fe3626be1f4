// Compresses a field of 60 x 100 values, decompresses it, and checks the bound. With an argument, the stream is written to
// this file.
//
//     cc field.c $(pkg-config --cflags --libs ferrosz) -lm -o field && ./field field.fsz

#include <ferrosz.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, COLUMNS = 100, ELEMENTS = ROWS * COLUMNS };

static void fail(const ferrosz_error *error) {
    fprintf(stderr, "ferrosz: %s\n", ferrosz_error_text(error));
    exit(1);
}

int main(int argc, char **argv) {
    static float field[ELEMENTS], decoded[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        field[i] = 0.25f * (float)((i / COLUMNS) * (i % COLUMNS) % 1000);
    }

    ferrosz_error *error = ferrosz_error_new();
    ferrosz_compressor *compressor = ferrosz_compressor_new("small", FERROSZ_ABS, 0.1, error);
    const uint64_t extents[] = {ROWS, COLUMNS};
    if (!compressor || ferrosz_compressor_set_extents(compressor, 2, extents, error)) {
        fail(error);
    }
    ferrosz_buffer *stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, field, ELEMENTS, error);
    if (!stream) {
        fail(error);
    }
    const void *data = ferrosz_buffer_data(stream);
    const uint64_t bytes = ferrosz_buffer_bytes(stream);

    if (ferrosz_decompress(NULL, data, bytes, FERROSZ_F32, decoded, ELEMENTS, NULL, error)) {
        fail(error);
    }
    double largest = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        largest = fmax(largest, fabs((double)field[i] - (double)decoded[i]));
    }
    ferrosz_info *info = ferrosz_info_new(data, bytes, error);
    printf("%zu bytes became %llu with %s, largest error %g\n", sizeof field, (unsigned long long)bytes,
           ferrosz_info_codec(info), largest);

    // A box: rows 10 and 11, columns 20 to 24.
    const uint64_t starts[] = {10, 20}, lengths[] = {2, 5};
    float box[10];
    if (ferrosz_decompress_box(NULL, data, bytes, 2, starts, lengths, FERROSZ_F32, box, 10, NULL, error)) {
        fail(error);
    }
    const int box_is_right = box[7] == decoded[11 * COLUMNS + 22];

    FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (file && (fwrite(data, 1, bytes, file) != bytes || fclose(file))) {
        perror(argv[1]);
        return 1;
    }
    ferrosz_info_free(info);
    ferrosz_buffer_free(stream);
    ferrosz_compressor_free(compressor);
    ferrosz_error_free(error);
    return largest <= 0.1 && box_is_right ? 0 : 1;
}
