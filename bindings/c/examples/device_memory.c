// Compresses, decompresses and updates a field in device memory, on a CUDA stream of its own. Without a GPU it says so and ends.
//
//     nvcc device_memory.c $(pkg-config --cflags --libs ferrosz) -o device_memory && ./device_memory
//
// With an argument, the stream is written to this file.

#include <cuda_runtime_api.h>
#include <ferrosz.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, COLUMNS = 1000, ELEMENTS = ROWS * COLUMNS };

static ferrosz_error *error;

static void check(int is_done) {
    if (!is_done) {
        fprintf(stderr, "ferrosz: %s; CUDA: %s\n", ferrosz_error_text(error), cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
}

// Whether device memory has the bytes of a stream of the host.
static int is_on_device(const ferrosz_buffer *on_host, const void *stream, uint64_t bytes) {
    uint8_t *from_device = malloc(bytes);
    check(!cudaMemcpy(from_device, stream, bytes, cudaMemcpyDeviceToHost));
    int is_same = ferrosz_buffer_bytes(on_host) == bytes && !memcmp(ferrosz_buffer_data(on_host), from_device, bytes);
    free(from_device);
    return is_same;
}

int main(int argc, char **argv) {
    error = ferrosz_error_new();
    ferrosz_gpu *gpu = ferrosz_gpu_new(0, error);
    if (!gpu) {
        printf("nothing to show here: %s\n", ferrosz_error_text(error));
        ferrosz_error_free(error);
        return 0;
    }
    float *host = malloc(ELEMENTS * sizeof *host), *back = malloc(ELEMENTS * sizeof *back);
    for (int i = 0; i < ELEMENTS; i++) {
        host[i] = 0.25f * (float)((i / COLUMNS) * (i % COLUMNS) % 1000);
    }
    cudaStream_t cuda_stream;
    void *field, *stream, *decoded;
    check(!cudaStreamCreate(&cuda_stream) && !cudaMalloc(&field, ELEMENTS * sizeof *host));
    check(!cudaMalloc(&decoded, ELEMENTS * sizeof *host));
    check(!cudaMemcpyAsync(field, host, ELEMENTS * sizeof *host, cudaMemcpyHostToDevice, cuda_stream));

    // A preset chooses the codec by a sample of the field; this call waits.
    ferrosz_compressor *compressor = ferrosz_compressor_new("fast", FERROSZ_ABS, 0.1, error);
    const uint64_t extents[] = {ROWS, COLUMNS};
    check(compressor && !ferrosz_compressor_set_extents(compressor, 2, extents, error));
    check(!ferrosz_gpu_choose(gpu, cuda_stream, compressor, FERROSZ_F32, field, ELEMENTS, error));
    uint64_t room, bytes;
    check(!ferrosz_compressor_max_stream_bytes(compressor, FERROSZ_F32, ELEMENTS, &room, error));
    check(!cudaMalloc(&stream, room));

    // The workspace is memory of the caller here; ferrosz_workspace_new allocates it instead.
    void *memory;
    check(!ferrosz_compressor_workspace_bytes(compressor, FERROSZ_F32, ELEMENTS, &bytes, error) && !cudaMalloc(&memory, bytes));
    ferrosz_workspace *workspace =
        ferrosz_workspace_new_in(gpu, cuda_stream, compressor, FERROSZ_F32, ELEMENTS, memory, bytes, error);
    check(workspace != NULL);

    // These calls neither allocate nor wait.
    check(!ferrosz_gpu_compress(gpu, cuda_stream, compressor, FERROSZ_F32, field, ELEMENTS, stream, room, workspace, error));
    check(!ferrosz_gpu_decompress(gpu, cuda_stream, NULL, compressor, stream, room, FERROSZ_F32, ELEMENTS, decoded, ELEMENTS,
                                  workspace, error));

    // These wait, and tell how long the stream is, and whether it was undamaged.
    check(!ferrosz_workspace_check(gpu, cuda_stream, workspace, error));
    check(!ferrosz_workspace_stream_bytes(gpu, cuda_stream, workspace, &bytes, error));
    check(!cudaMemcpy(back, decoded, ELEMENTS * sizeof *back, cudaMemcpyDeviceToHost));
    double largest = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        largest = fmax(largest, fabs((double)host[i] - (double)back[i]));
    }

    // The host makes the same stream, and a box on the device has the same values.
    uint8_t *from_device = malloc(bytes);
    check(!cudaMemcpy(from_device, stream, bytes, cudaMemcpyDeviceToHost));
    ferrosz_buffer *on_host = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, host, ELEMENTS, error);
    check(on_host != NULL);
    int is_same = is_on_device(on_host, stream, bytes);
    const uint64_t starts[] = {500, 300}, lengths[] = {4, 8};
    float box[32];
    check(!ferrosz_gpu_decompress_box(gpu, cuda_stream, NULL, compressor, stream, bytes, ELEMENTS, 2, starts, lengths,
                                      FERROSZ_F32, decoded, 32, workspace, error));
    check(!ferrosz_workspace_check(gpu, cuda_stream, workspace, error));
    check(!cudaMemcpy(box, decoded, sizeof box, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        is_same &= box[i] == back[(500 + i / 8) * COLUMNS + 300 + i % 8];
    }

    // A box of the stream is replaced by values of the host, which makes the same stream. The first call says how much room
    // the stream needs.
    for (int i = 0; i < 32; i++) {
        box[i] = (float)-i;
    }
    ferrosz_update *update = ferrosz_update_new(from_device, bytes, 2, starts, lengths, FERROSZ_F32, box, 32, error);
    ferrosz_buffer *updated = ferrosz_update_apply(update, from_device, bytes, error);
    check(updated != NULL);
    uint64_t longer, compact;
    void *grown, *compacted;
    check(ferrosz_gpu_update(gpu, cuda_stream, stream, bytes, 2, starts, lengths, FERROSZ_F32, box, 32, &longer, error) ==
          FERROSZ_OUTPUT_TOO_SMALL);
    check(!cudaMalloc(&grown, longer) && !cudaMalloc(&compacted, longer));
    check(!cudaMemcpy(grown, stream, bytes, cudaMemcpyDeviceToDevice));
    check(!ferrosz_gpu_update(gpu, cuda_stream, grown, longer, 2, starts, lengths, FERROSZ_F32, box, 32, &longer, error));
    is_same &= is_on_device(updated, grown, longer);

    // Without the chunks that were replaced the stream is decompressed as one of ferrosz_gpu_compress.
    check(!ferrosz_gpu_compact(gpu, cuda_stream, grown, longer, compacted, longer, &compact, error));
    check(!ferrosz_gpu_decompress_box(gpu, cuda_stream, NULL, compressor, compacted, compact, ELEMENTS, 2, starts, lengths,
                                      FERROSZ_F32, decoded, 32, workspace, error));
    check(!ferrosz_workspace_check(gpu, cuda_stream, workspace, error));
    check(!cudaMemcpy(back, decoded, sizeof box, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        largest = fmax(largest, fabs((double)box[i] - (double)back[i]));
    }
    printf("%zu bytes became %llu, largest error %g, %s\n", ELEMENTS * sizeof *host, (unsigned long long)bytes, largest,
           is_same ? "the same bytes as on the host" : "OTHER BYTES THAN ON THE HOST");

    FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (file) {
        fwrite(from_device, 1, bytes, file);
        fclose(file);
    }
    ferrosz_buffer_free(on_host), ferrosz_buffer_free(updated), ferrosz_update_free(update);
    ferrosz_workspace_free(workspace);
    ferrosz_compressor_free(compressor);
    ferrosz_gpu_free(gpu);
    ferrosz_error_free(error);
    cudaFree(field), cudaFree(stream), cudaFree(decoded), cudaFree(memory), cudaFree(grown), cudaFree(compacted), cudaStreamDestroy(cuda_stream);
    free(host), free(back), free(from_device);
    return largest <= 0.1 && is_same ? 0 : 1;
}
