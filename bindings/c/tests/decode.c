// Decodes each named stream to raw values in a file of the same name with ".raw" behind it: `decode STREAM...`.

#include <ferrosz.h>

#include <stdio.h>
#include <stdlib.h>

static int decode(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        return 1;
    }
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *stream = malloc(bytes);
    size_t read = fread(stream, 1, bytes, file);
    fclose(file);

    ferrosz_error *error = ferrosz_error_new();
    ferrosz_info *info = ferrosz_info_new(stream, read, error);
    uint64_t field_bytes = ferrosz_info_field_bytes(info);
    void *values = malloc(field_bytes + 1);
    int failed = info == NULL || ferrosz_decompress(NULL, stream, read, ferrosz_info_type(info), values,
                                                    ferrosz_info_elements(info), NULL, error);
    if (failed) {
        fprintf(stderr, "%s: %s\n", path, ferrosz_error_text(error));
    } else {
        char name[4096];
        snprintf(name, sizeof name, "%s.raw", path);
        FILE *raw = fopen(name, "wb");
        failed = !raw || fwrite(values, 1, field_bytes, raw) != field_bytes || fclose(raw);
    }
    free(values), free(stream);
    ferrosz_info_free(info);
    ferrosz_error_free(error);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed |= decode(argv[i]);
    }
    return failed;
}
