// Each rank of MPI has a box of a field. Together they write one file, and each reads its box back.
//
//     mpicc field.c $(pkg-config --cflags --libs ferrosz) -lm -o field && mpiexec -n 4 ./field field.fsz

#include "ranks.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "field: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

int main(int argc, char **argv) {
    enum { DEPTH = 60, ROWS = 80, COLUMNS = 100 };
    MPI_Init(&argc, &argv);
    ranks own = {.comm = MPI_COMM_WORLD};
    int rank, parts[2] = {0, 0};
    MPI_Comm_rank(own.comm, &rank);
    MPI_Comm_size(own.comm, &own.size);
    if (argc < 2) {
        fail("give the name of a file");
    }

    // 1. The box of this rank, cut along the first two axes, and its values.
    MPI_Dims_create(own.size, 2, parts);
    const uint64_t extents[] = {DEPTH, ROWS, COLUMNS};
    uint64_t starts[] = {0, 0, 0}, lengths[] = {DEPTH, ROWS, COLUMNS}, elements = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (axis < 2) {
            uint64_t at = axis == 0 ? rank / parts[1] : rank % parts[1];
            starts[axis] = extents[axis] * at / parts[axis];
            lengths[axis] = extents[axis] * (at + 1) / parts[axis] - starts[axis];
        }
        elements *= lengths[axis];
    }
    float *field = malloc((elements + 1) * sizeof *field), *decoded = malloc((elements + 1) * sizeof *decoded);
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t z = starts[0] + i / lengths[2] / lengths[1], y = starts[1] + i / lengths[2] % lengths[1];
        field[i] = 0.25f * (float)((z * y + i % lengths[2]) % 1000);
    }

    // 2. All ranks write the file.
    if (MPI_File_open(own.comm, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &own.file)) {
        fail("the file cannot be opened");
    }
    MPI_File_set_size(own.file, 0);
    ferrosz_group group = group_of(&own);
    ferrosz_error *error = ferrosz_error_new();
    ferrosz_compressor *compressor = ferrosz_compressor_new("interp", FERROSZ_RANGE, 1e-3, error);
    uint64_t bytes;
    if (!compressor || ferrosz_compressor_set_extents(compressor, 3, extents, error) ||
        ferrosz_compress_part(compressor, &group, 3, starts, lengths, FERROSZ_F32, field, elements, &bytes, error)) {
        fail(ferrosz_error_text(error));
    }
    MPI_File_close(&own.file);

    // 3. Each reads its box. The bound is a thousandth of the range of the whole field.
    int file = open(argv[1], O_RDONLY);
    void *stream = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (stream == MAP_FAILED) {
        fail("the file cannot be read");
    }
    if (ferrosz_decompress_box(NULL, stream, bytes, 3, starts, lengths, FERROSZ_F32, decoded, elements, NULL, error)) {
        fail(ferrosz_error_text(error));
    }
    float largest = 0;
    for (uint64_t i = 0; i < elements; i++) {
        largest = fmaxf(largest, fabsf(field[i] - decoded[i]));
    }
    if (largest > 1e-3 * 249.75) {
        fail("the bound is not kept");
    }
    if (rank == 0) {
        printf("%d bytes became %llu\n", 4 * DEPTH * ROWS * COLUMNS, (unsigned long long)bytes);
    }
    munmap(stream, bytes);
    ferrosz_compressor_free(compressor);
    ferrosz_error_free(error);
    free(field);
    free(decoded);
    MPI_Finalize();
    return 0;
}
