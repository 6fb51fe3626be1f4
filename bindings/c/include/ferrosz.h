// Error-bounded compression of scientific arrays, on CPUs and NVIDIA GPUs with the same bytes. docs/book/c.md has examples.
//
// Objects are made by a ..._new function and freed by the ..._free function of the same name. Counts are uint64_t. Extents
// and boxes have the slowest dimension first, as arrays of C.
//
// Errors: a function that can fail returns a status, or null instead of an object, and takes a `ferrosz_error *` as its
// last argument. It may be null; otherwise it gets the status and a text that names the cause. The library keeps no error
// of its own, in no variable and in no thread.
//
// Threads: all functions may be called from several threads at the same time, as long as no object that a call changes (its
// parameter is not const) is used by another thread.
//
// Memory: inputs and outputs are memory of the caller, aligned as the type of their values, and do not overlap.


#ifndef FERROSZ_H
#define FERROSZ_H

#include <stdbool.h>
#include <stdint.h>

// The format of streams without header, and all else that their writer and their readers must have the same. Several threads
// may use one, as long as none changes it.
typedef struct ferrosz_bare ferrosz_bare;

// The streams of many fields.
typedef struct ferrosz_batch ferrosz_batch;

// Boxes of a field. No element is in two of them.
typedef struct ferrosz_boxes ferrosz_boxes;

// A stream in memory of the library.
typedef struct ferrosz_buffer ferrosz_buffer;

// Settings with which any number of fields are compressed. Several threads may compress with one compressor at the same
// time, as long as none changes it.
typedef struct ferrosz_compressor ferrosz_compressor;

// The damaged chunks of a stream.
typedef struct ferrosz_damages ferrosz_damages;

// Settings with which any number of streams are decompressed. Calls take a null pointer for the settings of a new one.
typedef struct ferrosz_decompressor ferrosz_decompressor;

// The status and the text of the last call that got this object. A thread uses an object of its own.
typedef struct ferrosz_error ferrosz_error;

// An NVIDIA GPU: its primary context, which is also that of the CUDA runtime.
typedef struct ferrosz_gpu ferrosz_gpu;

// The messages that a member gets.
typedef struct ferrosz_inbox ferrosz_inbox;

// The properties of a stream.
typedef struct ferrosz_info ferrosz_info;

// The values that were found, and where they are.
typedef struct ferrosz_matches ferrosz_matches;

// The sizes of the sections of a stream without header, and the forms of its blocks.
typedef struct ferrosz_outline ferrosz_outline;

// An interpolator and the stage behind it. Several threads may compress with one pipeline at the same time, as long as
// none changes it.
typedef struct ferrosz_pipeline ferrosz_pipeline;

// The stream that a search found.
typedef struct ferrosz_search ferrosz_search;

// The statistics of a stream, if it has some.
typedef struct ferrosz_statistics ferrosz_statistics;

// The replacement of a box of a stream's field: bytes to append, and then a new header.
typedef struct ferrosz_update ferrosz_update;

// The figures of a comparison of a stream with its original.
typedef struct ferrosz_verification ferrosz_verification;

// Device memory that calls on one CUDA stream share.
typedef struct ferrosz_workspace ferrosz_workspace;

// The type of the values of a field: its number in streams, which never changes.
typedef int32_t ferrosz_type;

// The result of a call. The number of a status never changes; later versions may have more of them.
typedef int32_t ferrosz_status;

// What an error bound E is relative to: its number in streams, which never changes.
typedef int32_t ferrosz_bound_mode;

// A message to another member.
typedef struct {
  // The rank of the member that it is for.
  uint64_t rank;
  // Its contents.
  const void *data;
  // The number of bytes.
  uint64_t bytes;
} ferrosz_message;

// A piece of a stream.
typedef struct {
  // The position of its first byte in the stream.
  uint64_t start;
  // Its contents.
  const void *data;
  // The number of bytes.
  uint64_t bytes;
} ferrosz_piece;

// The members that compress one field together, as one of them sees it. The functions are those of the caller; each gets
// `context`, and returns 0, or any other number if it fails. All members make the same calls in the same order, on the
// thread that called ferrosz_compress_part. A call returns when the members that it depends on have made theirs. If a
// member fails or ends, the calls of the others must fail, not wait for ever; engines such as MPI then end the whole
// program. No exception of C++ may leave a function.
typedef struct {
  // What the functions get.
  void *context;
  // The number of this member, from 0 on.
  uint64_t rank;
  // The number of members.
  uint64_t size;
  // Replaces each of `count` numbers by the largest of all members, which give equally many.
  int32_t (*max)(void *context, uint64_t *numbers, uint64_t count);
  // Replaces each of `count` numbers by its sum over all members, modulo 2^64. The members give equally many.
  int32_t (*sum)(void *context, uint64_t *numbers, uint64_t count);
  // Stores in `before` the sum of the numbers of the members with lower ranks: 0 for the first member.
  int32_t (*sum_before)(void *context, uint64_t number, uint64_t *before);
  // Sends `count` messages, at most one to each member and none empty. Those for this member go to the inbox by
  // ferrosz_inbox_add, in any order. A member may send one to itself.
  int32_t (*exchange)(void *context,
                      uint64_t count,
                      const ferrosz_message *messages,
                      ferrosz_inbox *inbox);
  // Writes `count` pieces of the stream, in ascending order of their positions. The pieces of all members are different
  // parts of the stream. All members call it, also those that have no pieces.
  int32_t (*write)(void *context, uint64_t count, const ferrosz_piece *pieces);
  // Returns when all members have called it, and everything that they wrote before is visible to all.
  int32_t (*barrier)(void *context);
} ferrosz_group;

// The call did its work.
#define FERROSZ_OK 0

// An argument is null, misaligned, out of range, or does not fit the others.
#define FERROSZ_INVALID_ARGUMENT 1

// The output has too little room.
#define FERROSZ_OUTPUT_TOO_SMALL 2

// The stream is damaged, cut off, or not a stream of ferrosz.
#define FERROSZ_DAMAGED_STREAM 3

// The stream needs a newer version of the library.
#define FERROSZ_UNKNOWN_STREAM 4

// The stream holds values of another type.
#define FERROSZ_WRONG_TYPE 5

// Memory could not be allocated.
#define FERROSZ_OUT_OF_MEMORY 6

// There is no such device, or the GPU is too old.
#define FERROSZ_NO_DEVICE 7

// A call of the CUDA driver failed.
#define FERROSZ_CUDA_FAILED 8

// A defect of ferrosz.
#define FERROSZ_INTERNAL 9

// A function of a group failed, or another member of it did.
#define FERROSZ_GROUP_FAILED 10

// A file could not be read.
#define FERROSZ_READ_FAILED 11

// IEEE 754 binary32: `float`.
#define FERROSZ_F32 1

// IEEE 754 binary64: `double`.
#define FERROSZ_F64 2

// IEEE 754 binary16: `_Float16`.
#define FERROSZ_F16 3

// bfloat16: the upper half of a binary32.
#define FERROSZ_BF16 4

// `int16_t`.
#define FERROSZ_I16 5

// `uint16_t`.
#define FERROSZ_U16 6

// `int32_t`.
#define FERROSZ_I32 7

// `uint32_t`.
#define FERROSZ_U32 8

// |x - x'| <= E.
#define FERROSZ_ABS 0

// |x - x'| <= E (max - min of the finite values).
#define FERROSZ_RANGE 1

// |x - x'| <= E (max |x| of the finite values).
#define FERROSZ_MAX 2

// |x - x'| <= E |x|, for each value; zeros and signs come back.
#define FERROSZ_PWREL 3

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes the parameters of streams without header, of arrays with these extents: one to three for cuSZp, slowest dimension
// first. `format` is "cuszp", which has the mode "plain" and blocks of as many dimensions as the array, or "aatrox". `type` is
// FERROSZ_F32 or FERROSZ_F64. An error must be set before any use. Null if it fails. Free it with ferrosz_bare_free.
//
// These streams have the limits of those compressors: the bound is not guaranteed, NaNs and infinities do not come back, and
// there are no checksums. Unless you need them, use ferrosz_compress.
ferrosz_bare *ferrosz_bare_new(const char *format,
                               ferrosz_type type,
                               uint64_t dimensions,
                               const uint64_t *extents,
                               ferrosz_error *error);

// Frees parameters. Does nothing with a null pointer.
void ferrosz_bare_free(ferrosz_bare *bare);

// Sets how cuSZp makes and stores differences: "fixed", "plain" or "outlier".
ferrosz_status ferrosz_bare_set_mode(ferrosz_bare *bare, const char *mode, ferrosz_error *error);

// Sets the dimensions of cuSZp's blocks, 1 to 3. Without it they are those of the array, and one with version 1.
ferrosz_status ferrosz_bare_set_rank(ferrosz_bare *bare,
                                     uint32_t rank,
                                     ferrosz_error *error);

// Sets whether the streams have the framing of cuSZp 1, which has the mode "plain" in one dimension alone.
ferrosz_status ferrosz_bare_set_v1(ferrosz_bare *bare,
                                   bool v1,
                                   ferrosz_error *error);

// Sets whether an array is refused that cuSZp would not decompress, or would decompress to values beyond the bound. The
// strict encoder runs on the CPU.
ferrosz_status ferrosz_bare_set_strict(ferrosz_bare *bare,
                                       bool strict,
                                       ferrosz_error *error);

// Sets whether up to 3 missing last bytes are read as zero: the size that cuSZp returns leaves them out.
ferrosz_status ferrosz_bare_set_allow_missing(ferrosz_bare *bare,
                                              bool allow,
                                              ferrosz_error *error);

// Sets the device: "auto" (the default), "cpu", "cuda" or "cuda:1". Boxes and updates are computed on the CPU.
ferrosz_status ferrosz_bare_set_device(ferrosz_bare *bare,
                                       const char *device,
                                       ferrosz_error *error);

// Sets the error by a bound: FERROSZ_ABS, with which `field` may be null and `elements` 0, or FERROSZ_RANGE or FERROSZ_MAX of
// the finite values of a field. Each operation rounds once, as in cuSZp's own command: in the type of the elements, or with
// `float_bound` in `float`, as that command computes the error of doubles.
ferrosz_status ferrosz_bare_set_bound(ferrosz_bare *bare,
                                      ferrosz_bound_mode bound_mode,
                                      double bound,
                                      bool float_bound,
                                      const void *field,
                                      uint64_t elements,
                                      ferrosz_error *error);

// The absolute error, all of whose bits a reader needs; NaN if none is set.
double ferrosz_bare_error(const ferrosz_bare *bare);

// Reads the rate bytes of a stream, which may be longer or shorter than it must be. Null if it fails. Free it with
// ferrosz_outline_free.
ferrosz_outline *ferrosz_outline_new(const ferrosz_bare *bare,
                                     const void *stream,
                                     uint64_t bytes,
                                     ferrosz_error *error);

// Frees an outline. Does nothing with a null pointer.
void ferrosz_outline_free(ferrosz_outline *outline);

// The bytes that the stream must have.
uint64_t ferrosz_outline_stream_bytes(const ferrosz_outline *outline);

// The rate bytes: one for each block, also for the blocks that fill up the last chunk or layer.
uint64_t ferrosz_outline_rate_bytes(const ferrosz_outline *outline);

// The bytes between the rate bytes and the first body: cuSZp's gap of up to 3 bytes, or AATROX's initial values.
uint64_t ferrosz_outline_between_bytes(const ferrosz_outline *outline);

// The bytes of all bodies.
uint64_t ferrosz_outline_body_bytes(const ferrosz_outline *outline);

// The blocks without a body: all their differences are 0.
uint64_t ferrosz_outline_zero_blocks(const ferrosz_outline *outline);

// The number of blocks with a rate byte, 0 to 255.
uint64_t ferrosz_outline_blocks(const ferrosz_outline *outline, uint32_t rate_byte);

// The bytes of the body of each block with a rate byte, 0 to 255; 0 if no block has it.
uint64_t ferrosz_outline_block_bytes(const ferrosz_outline *outline, uint32_t rate_byte);

// Decompresses a box of the array, `starts` and `lengths` of as many dimensions as it has, as ferrosz_bare_decompress does:
// from the blocks that hold it, with AATROX from the layers.
ferrosz_status ferrosz_bare_decompress_box(const ferrosz_bare *bare,
                                           const void *stream,
                                           uint64_t bytes,
                                           uint64_t dimensions,
                                           const uint64_t *starts,
                                           const uint64_t *lengths,
                                           void *values,
                                           uint64_t room,
                                           uint64_t *elements,
                                           ferrosz_error *error);

// As ferrosz_bare_decompress_box, for `count` consecutive elements in C order from number `start` on.
ferrosz_status ferrosz_bare_decompress_elements(const ferrosz_bare *bare,
                                                const void *stream,
                                                uint64_t bytes,
                                                uint64_t start,
                                                uint64_t count,
                                                void *values,
                                                uint64_t room,
                                                ferrosz_error *error);

// Replaces a box of the array in its stream by `elements` values, where the new blocks, with AATROX the layers, have the
// lengths of the old ones: else it fails, and the stream is unchanged. Stores the number of blocks or layers in `units`, which
// may be null.
ferrosz_status ferrosz_bare_replace_box(const ferrosz_bare *bare,
                                        void *stream,
                                        uint64_t bytes,
                                        uint64_t dimensions,
                                        const uint64_t *starts,
                                        const uint64_t *lengths,
                                        const void *values,
                                        uint64_t elements,
                                        uint64_t *units,
                                        ferrosz_error *error);

// As ferrosz_bare_replace_box, for consecutive elements in C order from number `start` on.
ferrosz_status ferrosz_bare_replace_elements(const ferrosz_bare *bare,
                                             void *stream,
                                             uint64_t bytes,
                                             uint64_t start,
                                             const void *values,
                                             uint64_t elements,
                                             uint64_t *units,
                                             ferrosz_error *error);

// Compresses an array of `elements` values to a stream of cuSZp or AATROX. Null if it fails. ferrosz_buffer_free frees it.
ferrosz_buffer *ferrosz_bare_compress(const ferrosz_bare *bare,
                                      const void *field,
                                      uint64_t elements,
                                      ferrosz_error *error);

// Decompresses a stream of `bytes` bytes to the start of `values`, which has room for `room` values, and stores the number of
// elements in `elements`, which may be null. Bytes behind the end of the stream are ignored.
ferrosz_status ferrosz_bare_decompress(const ferrosz_bare *bare,
                                       const void *stream,
                                       uint64_t bytes,
                                       void *values,
                                       uint64_t room,
                                       uint64_t *elements,
                                       ferrosz_error *error);

// Whether the bytes are a whole stream with these parameters, and nothing else: FERROSZ_OK if all rate bytes are valid and
// the length is that of the bodies. The format has no checksums: damaged bodies and wrong bounds are not found.
ferrosz_status ferrosz_bare_check(const ferrosz_bare *bare,
                                  const void *stream,
                                  uint64_t bytes,
                                  ferrosz_error *error);

// Compresses `count` fields of `type`, field i with `elements[i]` values at `fields[i]`, each to a stream of its own with the
// bytes of ferrosz_compress. On a CPU they are compressed at the same time; device "auto" is the CPU here. A GPU gets all of
// them in one launch, if the codec is one of blocks, no extents are set, and the values are FERROSZ_F32 or FERROSZ_F64. Null
// if one field cannot be compressed; the text has its number. Free it with ferrosz_batch_free.
ferrosz_batch *ferrosz_compress_batch(const ferrosz_compressor *compressor,
                                      ferrosz_type type,
                                      const void *const *fields,
                                      const uint64_t *elements,
                                      uint64_t count,
                                      ferrosz_error *error);

// Frees a batch and its streams. Does nothing with a null pointer.
void ferrosz_batch_free(ferrosz_batch *batch);

// The bytes of stream `number` of a batch, until the batch is freed; null if there is no such stream.
const uint8_t *ferrosz_batch_stream(const ferrosz_batch *batch,
                                    uint64_t number);

// The number of bytes of stream `number` of a batch; 0 if there is no such stream.
uint64_t ferrosz_batch_stream_bytes(const ferrosz_batch *batch, uint64_t number);

// Decompresses `count` streams of fields of `type`: stream i, which has `bytes[i]` bytes at `streams[i]`, to the start of
// `values[i]`, which has room for `rooms[i]` values. A stream that fails spoils no other one. `statuses`, which may be null,
// gets the status of each stream; the result is the first one that is not FERROSZ_OK, and the text has its number.
// `decompressor` may be null. The device is used as by ferrosz_compress_batch.
ferrosz_status ferrosz_decompress_batch(const ferrosz_decompressor *decompressor,
                                        const void *const *streams,
                                        const uint64_t *bytes,
                                        ferrosz_type type,
                                        void *const *values,
                                        const uint64_t *rooms,
                                        uint64_t count,
                                        ferrosz_status *statuses,
                                        ferrosz_error *error);

// Frees boxes. Does nothing with a null pointer.
void ferrosz_boxes_free(ferrosz_boxes *boxes);

// The number of boxes.
uint64_t ferrosz_boxes_count(const ferrosz_boxes *boxes);

// Where box `number` begins along each dimension of the field, until the boxes are freed; null if there is no such box.
const uint64_t *ferrosz_boxes_starts(const ferrosz_boxes *boxes,
                                     uint64_t number);

// The lengths of box `number`, until the boxes are freed; null if there is no such box.
const uint64_t *ferrosz_boxes_lengths(const ferrosz_boxes *boxes, uint64_t number);

// The bytes of a buffer, until it is freed; null for a null pointer.
const uint8_t *ferrosz_buffer_data(const ferrosz_buffer *buffer);

// The number of bytes of a buffer; 0 for a null pointer.
uint64_t ferrosz_buffer_bytes(const ferrosz_buffer *buffer);

// Frees a buffer. Does nothing with a null pointer.
void ferrosz_buffer_free(ferrosz_buffer *buffer);

// Decodes a stream without output and compares all checksums: FERROSZ_OK if it is whole. `damaged_chunks`, which may be
// null, gets the number of damaged chunks; it is 0 if the damage is not in chunks, so that nothing can be decoded.
ferrosz_status ferrosz_check(const void *stream,
                             uint64_t bytes,
                             uint64_t *damaged_chunks,
                             ferrosz_error *error);

// The largest number of bytes that the stream of a field of `elements` elements can have with a codec of blocks of rank 1,
// such as "plain", without extents and fill values. 0 if there is no such type.
uint64_t ferrosz_max_stream_bytes(ferrosz_type type,
                                  uint64_t elements);

// Stores in `bytes` the largest number of bytes that the stream of a field of `elements` elements can have, whatever
// their values. A compressor with a preset must choose its codec first: ferrosz_compressor_choose.
ferrosz_status ferrosz_compressor_max_stream_bytes(const ferrosz_compressor *compressor,
                                                   ferrosz_type type,
                                                   uint64_t elements,
                                                   uint64_t *bytes,
                                                   ferrosz_error *error);

// Compresses a field of `elements` values to the start of `stream`, which has room for `room` bytes, and stores the
// stream's length in `bytes`. With FERROSZ_OUTPUT_TOO_SMALL, `bytes` is the room that is needed. A field without
// elements has a stream, too.
ferrosz_status ferrosz_compress(const ferrosz_compressor *compressor,
                                ferrosz_type type,
                                const void *field,
                                uint64_t elements,
                                void *stream,
                                uint64_t room,
                                uint64_t *bytes,
                                ferrosz_error *error);

// As ferrosz_compress, to memory of the library, which ferrosz_buffer_free frees. Null if it fails.
ferrosz_buffer *ferrosz_compress_to_buffer(const ferrosz_compressor *compressor,
                                           ferrosz_type type,
                                           const void *field,
                                           uint64_t elements,
                                           ferrosz_error *error);

// Makes a compressor. `codec` is the name of a preset ("fast", "balanced" or "small") or of a codec ("plain",
// "lorenzo+rans", "interp" ...). `bound_mode` is FERROSZ_ABS, FERROSZ_RANGE, FERROSZ_MAX or FERROSZ_PWREL, and `bound`
// the error bound in this mode; 0 is lossless. Null if it fails. Free it with ferrosz_compressor_free.
ferrosz_compressor *ferrosz_compressor_new(const char *codec,
                                           ferrosz_bound_mode bound_mode,
                                           double bound,
                                           ferrosz_error *error);

// Frees a compressor. Does nothing with a null pointer.
void ferrosz_compressor_free(ferrosz_compressor *compressor);

// Makes a second compressor with the same settings. Null if it fails.
ferrosz_compressor *ferrosz_compressor_copy(const ferrosz_compressor *compressor,
                                            ferrosz_error *error);

// Sets the extents of the fields: `dimensions` lengths, 1 to 8, slowest dimension first. Without extents a field is a
// line.
ferrosz_status ferrosz_compressor_set_extents(ferrosz_compressor *compressor,
                                              uint64_t dimensions,
                                              const uint64_t *extents,
                                              ferrosz_error *error);

// Says that the values are the parts of complex numbers: float or double, and along the last axis, of length 2, the real and
// the imaginary part, as float complex and double complex have them. The type and the elements of calls are those of the
// parts, and the extents have their axis; without extents a field is a line of pairs. Each part keeps the bound.
ferrosz_status ferrosz_compressor_set_complex(ferrosz_compressor *compressor,
                                              ferrosz_error *error);

// Names a value that stands for missing elements; up to four times. It comes back bit for bit, and counts neither in
// the range of the field nor in the bound. NaN means the NaNs that processors make.
ferrosz_status ferrosz_compressor_add_fill(ferrosz_compressor *compressor,
                                           double fill,
                                           ferrosz_error *error);

// As ferrosz_compressor_add_fill, with the bits of the value: the low ones, in types of fewer than 64 bits.
ferrosz_status ferrosz_compressor_add_fill_bits(ferrosz_compressor *compressor,
                                                uint64_t bits,
                                                ferrosz_error *error);

// Keeps values on their side of a number: those that are at least this number, and those below it. Up to eight
// numbers. Like all safeguards it is exact, and leaves fill values and values that are not finite alone. Compression for a
// group or from device memory refuses safeguards.
ferrosz_status ferrosz_compressor_keep_above(ferrosz_compressor *compressor,
                                             double number,
                                             ferrosz_error *error);

// Keeps decoded values within limits. A value of a field that lies outside of them, such as an infinity, is an error. See
// ferrosz_compressor_keep_above for what holds of all safeguards; each other one is set once.
ferrosz_status ferrosz_compressor_set_limits(ferrosz_compressor *compressor,
                                             double low,
                                             double high,
                                             ferrosz_error *error);

// Bounds the error of the natural logarithm of each value. Zeros stay zeros, negative values negative.
ferrosz_status ferrosz_compressor_bound_log(ferrosz_compressor *compressor,
                                            double bound,
                                            ferrosz_error *error);

// Bounds the error of the exponential of each value.
ferrosz_status ferrosz_compressor_bound_exp(ferrosz_compressor *compressor,
                                            double bound,
                                            ferrosz_error *error);

// Bounds the error of the square of each value.
ferrosz_status ferrosz_compressor_bound_square(ferrosz_compressor *compressor,
                                               double bound,
                                               ferrosz_error *error);

// Keeps the order of neighbours along an axis. The first axis is 0.
ferrosz_status ferrosz_compressor_keep_order(ferrosz_compressor *compressor,
                                             uint32_t axis,
                                             ferrosz_error *error);

// Puts statistics of the field into its stream: smallest and largest value and mean of groups of chunks. They are a thousandth
// of the stream at most, or one group. See ferrosz_statistics_new and ferrosz_matches_new. Compression for a group or from
// device memory refuses them.
ferrosz_status ferrosz_compressor_add_statistics(ferrosz_compressor *compressor,
                                                 ferrosz_error *error);

// As ferrosz_compressor_add_statistics, but only if they are a thousandth of the stream at most.
ferrosz_status ferrosz_compressor_add_small_statistics(ferrosz_compressor *compressor,
                                                       ferrosz_error *error);

// Adds the fill values that are found in a field: NaN, if there are many, and repeated values far outside the others,
// such as 1e20 or -9999.
ferrosz_status ferrosz_compressor_detect_fills(ferrosz_compressor *compressor,
                                               ferrosz_type type,
                                               const void *field,
                                               uint64_t elements,
                                               ferrosz_error *error);

// Keeps the sign of every finite value, also with codecs that do not do so by themselves.
ferrosz_status ferrosz_compressor_keep_signs(ferrosz_compressor *compressor, ferrosz_error *error);

// Keeps zeros: a zero comes back as a zero, also with codecs that do not do so by themselves.
ferrosz_status ferrosz_compressor_keep_zeros(ferrosz_compressor *compressor, ferrosz_error *error);

// Sets the role of each axis, as "s,z,y,x": z, y and x are coded together, s are slices that are coded apart. With "auto"
// each field decides, also with a codec that is named; a preset does so without it.
ferrosz_status ferrosz_compressor_set_axes(ferrosz_compressor *compressor,
                                           const char *axes,
                                           ferrosz_error *error);

// Sets the dimensions of blocks or tiles, 1 to 3. Without it they follow from codec and extents, or a preset chooses
// them.
ferrosz_status ferrosz_compressor_set_rank(ferrosz_compressor *compressor,
                                           uint32_t rank,
                                           ferrosz_error *error);

// Sets the tiles of a chunk of a codec of tiles: 4, 16 or 64. Without it a codec has 4, or a preset chooses them.
ferrosz_status ferrosz_compressor_set_chunk_tiles(ferrosz_compressor *compressor,
                                                  uint32_t tiles,
                                                  ferrosz_error *error);

// Codes the lowest so many levels apart, so that ferrosz_decompress_level decodes levels 1 to this one without the finer
// ones. Cubes and planes have up to 4, lines 9. The codec is one with splines or stencils, or the preset small chooses
// among these. The stream is mostly some percent longer.
ferrosz_status ferrosz_compressor_set_levels(ferrosz_compressor *compressor,
                                             uint32_t levels,
                                             ferrosz_error *error);

// Sets the preference: "ratio" (the default), or "quality": with codecs that have splines or stencils, a higher PSNR at the
// same bound, and streams that are mostly longer.
ferrosz_status ferrosz_compressor_set_preference(ferrosz_compressor *compressor,
                                                 const char *preference,
                                                 ferrosz_error *error);

// Sets the device on which fields of host memory are compressed: "auto" (the default), "cpu", "cuda" or "cuda:1";
// "cuda:all" or "cuda:0,1" for several GPUs.
ferrosz_status ferrosz_compressor_set_device(ferrosz_compressor *compressor,
                                             const char *device,
                                             ferrosz_error *error);

// Chooses codec, rank and axes for a field, if the compressor has a preset. Later calls compress with this choice.
ferrosz_status ferrosz_compressor_choose(ferrosz_compressor *compressor,
                                         ferrosz_type type,
                                         const void *field,
                                         uint64_t elements,
                                         ferrosz_error *error);

// Decompresses a stream of `bytes` bytes to the start of `values`, which has room for `room` values of `type`, and
// stores the number of elements in `elements`, which may be null. With FERROSZ_OUTPUT_TOO_SMALL, `elements` is the room
// that is needed. `decompressor` may be null.
ferrosz_status ferrosz_decompress(const ferrosz_decompressor *decompressor,
                                  const void *stream,
                                  uint64_t bytes,
                                  ferrosz_type type,
                                  void *values,
                                  uint64_t room,
                                  uint64_t *elements,
                                  ferrosz_error *error);

// As ferrosz_decompress, for a box of the field: `starts` and `lengths` of as many dimensions as the field has, slowest
// first. Only chunks that hold some of the box are read.
ferrosz_status ferrosz_decompress_box(const ferrosz_decompressor *decompressor,
                                      const void *stream,
                                      uint64_t bytes,
                                      uint64_t dimensions,
                                      const uint64_t *starts,
                                      const uint64_t *lengths,
                                      ferrosz_type type,
                                      void *values,
                                      uint64_t room,
                                      uint64_t *elements,
                                      ferrosz_error *error);

// Makes a decompressor: device "auto", checksums are verified. Null if it fails. Free it with
// ferrosz_decompressor_free.
ferrosz_decompressor *ferrosz_decompressor_new(ferrosz_error *error);

// Frees a decompressor. Does nothing with a null pointer.
void ferrosz_decompressor_free(ferrosz_decompressor *decompressor);

// Sets the device on which streams of host memory are decompressed: "auto" (the default), "cpu", "cuda" or "cuda:1";
// "cuda:all" or "cuda:0,1" for several GPUs.
ferrosz_status ferrosz_decompressor_set_device(ferrosz_decompressor *decompressor,
                                               const char *device,
                                               ferrosz_error *error);

// Sets whether the checksums of chunks are verified. Without it damage may go unnoticed, and gives wrong values.
ferrosz_status ferrosz_decompressor_verify_checksums(ferrosz_decompressor *decompressor,
                                                     bool verify,
                                                     ferrosz_error *error);

// Makes an object that takes the errors of calls. Free it with ferrosz_error_free.
ferrosz_error *ferrosz_error_new(void);

// Frees an error. Does nothing with a null pointer.
void ferrosz_error_free(ferrosz_error *error);

// The status of the last call that got this error. FERROSZ_OK for a null pointer.
ferrosz_status ferrosz_error_status(const ferrosz_error *error);

// The text of the last call that got this error: the cause, and the argument at fault. It is empty if the call did its
// work. It is valid until the next call with this error. An empty text for a null pointer.
const char *ferrosz_error_text(const ferrosz_error *error);

// Opens the GPU with this number. Null if it fails, and on a machine without a GPU. Free it with ferrosz_gpu_free.
ferrosz_gpu *ferrosz_gpu_new(uint32_t number,
                             ferrosz_error *error);

// Frees a GPU. Does nothing with a null pointer.
void ferrosz_gpu_free(ferrosz_gpu *gpu);

// Chooses codec, rank and axes for a field in device memory, as ferrosz_compressor_choose. Waits for the work on `cuda_stream`.
ferrosz_status ferrosz_gpu_choose(const ferrosz_gpu *gpu,
                                  void *cuda_stream,
                                  ferrosz_compressor *compressor,
                                  ferrosz_type type,
                                  const void *field,
                                  uint64_t elements,
                                  ferrosz_error *error);

// Loads the kernels for fields of `elements` elements, so that later calls need not wait for the driver, and can be
// captured in a CUDA graph.
ferrosz_status ferrosz_gpu_prepare(const ferrosz_gpu *gpu,
                                   const ferrosz_compressor *compressor,
                                   ferrosz_type type,
                                   uint64_t elements,
                                   ferrosz_error *error);

// Makes a workspace for fields of `elements` elements, on a CUDA stream. The codec must be chosen. Free it with
// ferrosz_workspace_free before the CUDA stream is destroyed. Null if it fails.
ferrosz_workspace *ferrosz_workspace_new(const ferrosz_gpu *gpu,
                                         void *cuda_stream,
                                         const ferrosz_compressor *compressor,
                                         ferrosz_type type,
                                         uint64_t elements,
                                         ferrosz_error *error);

// Stores in `bytes` how much device memory a workspace for fields of `elements` elements has. The codec must be chosen.
ferrosz_status ferrosz_compressor_workspace_bytes(const ferrosz_compressor *compressor,
                                                  ferrosz_type type,
                                                  uint64_t elements,
                                                  uint64_t *bytes,
                                                  ferrosz_error *error);

// Stores in `bytes` how much device memory a workspace for ferrosz_gpu_decompress_box has: with codecs of tiles there is
// memory for the tiles that the box is in. ferrosz_workspace_new_in makes such a workspace.
ferrosz_status ferrosz_compressor_box_workspace_bytes(const ferrosz_compressor *compressor,
                                                      ferrosz_type type,
                                                      uint64_t elements,
                                                      uint64_t dimensions,
                                                      const uint64_t *starts,
                                                      const uint64_t *lengths,
                                                      uint64_t *bytes,
                                                      ferrosz_error *error);

// As ferrosz_workspace_new, but in device memory of the caller. `memory` is aligned to 16 bytes and has `bytes` bytes, at least
// as many as ferrosz_compressor_workspace_bytes says. The call enqueues the clearing of the first 256. The caller frees the
// memory after the workspace and after the last work with it.
ferrosz_workspace *ferrosz_workspace_new_in(const ferrosz_gpu *gpu,
                                            void *cuda_stream,
                                            const ferrosz_compressor *compressor,
                                            ferrosz_type type,
                                            uint64_t elements,
                                            void *memory,
                                            uint64_t bytes,
                                            ferrosz_error *error);

// Frees a workspace, after the work on its CUDA stream. Does nothing with a null pointer.
void ferrosz_workspace_free(ferrosz_workspace *workspace);

// Enqueues the compression of a field in device memory to the start of `stream`, which must have room for
// ferrosz_compressor_max_stream_bytes bytes. Both must be aligned to 16 bytes. Neither allocates nor waits.
// ferrosz_workspace_stream_bytes gives the stream's length.
ferrosz_status ferrosz_gpu_compress(const ferrosz_gpu *gpu,
                                    void *cuda_stream,
                                    const ferrosz_compressor *compressor,
                                    ferrosz_type type,
                                    const void *field,
                                    uint64_t elements,
                                    void *stream,
                                    uint64_t room,
                                    ferrosz_workspace *workspace,
                                    ferrosz_error *error);

// Enqueues the decompression of a stream in device memory to `values`, which has room for `room` values. Both must be
// aligned to 16 bytes. Neither allocates, waits nor reads the stream on the host: `compressor` has the settings with
// which it was made, and `elements` is the field's number of elements. ferrosz_workspace_check tells whether the stream
// had them and was undamaged. `decompressor` may be null.
ferrosz_status ferrosz_gpu_decompress(const ferrosz_gpu *gpu,
                                      void *cuda_stream,
                                      const ferrosz_decompressor *decompressor,
                                      const ferrosz_compressor *compressor,
                                      const void *stream,
                                      uint64_t bytes,
                                      ferrosz_type type,
                                      uint64_t elements,
                                      void *values,
                                      uint64_t room,
                                      ferrosz_workspace *workspace,
                                      ferrosz_error *error);

// As ferrosz_gpu_decompress, for a box of the field: `starts` and `lengths` of as many dimensions as the field has,
// slowest first. Only the chunks that the box needs are decoded. With a codec of tiles the workspace needs memory for them:
// ferrosz_compressor_box_workspace_bytes.
ferrosz_status ferrosz_gpu_decompress_box(const ferrosz_gpu *gpu,
                                          void *cuda_stream,
                                          const ferrosz_decompressor *decompressor,
                                          const ferrosz_compressor *compressor,
                                          const void *stream,
                                          uint64_t bytes,
                                          uint64_t elements,
                                          uint64_t dimensions,
                                          const uint64_t *starts,
                                          const uint64_t *lengths,
                                          ferrosz_type type,
                                          void *values,
                                          uint64_t room,
                                          ferrosz_workspace *workspace,
                                          ferrosz_error *error);

// Waits for the last compression with this workspace, and stores the length of its stream in `bytes`.
ferrosz_status ferrosz_workspace_stream_bytes(const ferrosz_gpu *gpu,
                                              void *cuda_stream,
                                              const ferrosz_workspace *workspace,
                                              uint64_t *bytes,
                                              ferrosz_error *error);

// Waits for the last decompression with this workspace: FERROSZ_OK if its stream was undamaged and as it was described.
ferrosz_status ferrosz_workspace_check(const ferrosz_gpu *gpu,
                                       void *cuda_stream,
                                       const ferrosz_workspace *workspace,
                                       ferrosz_error *error);

// A device pointer to the length of the stream that the last compression made, for kernels of the caller; null for a
// null pointer.
const uint64_t *ferrosz_workspace_stream_bytes_cell(const ferrosz_workspace *workspace);

// A device pointer to a number that is 0 if the last decompression found no fault; null for a null pointer.
const uint64_t *ferrosz_workspace_fault_cell(const ferrosz_workspace *workspace);

// Replaces a box of the field of the stream at the start of `stream`, device memory with room for `room` bytes, by `elements`
// values of `type` in host memory, as ferrosz_update_new. Stores the length of the new stream in `bytes`. The chunks of the
// box travel to the host, which codes them again. With FERROSZ_OUTPUT_TOO_SMALL, `bytes` is the room that is needed, and
// the stream is the old one. `stream` is aligned to 16 bytes. Waits for the work on `cuda_stream`.
ferrosz_status ferrosz_gpu_update(const ferrosz_gpu *gpu,
                                  void *cuda_stream,
                                  void *stream,
                                  uint64_t room,
                                  uint64_t dimensions,
                                  const uint64_t *starts,
                                  const uint64_t *lengths,
                                  ferrosz_type type,
                                  const void *values,
                                  uint64_t elements,
                                  uint64_t *bytes,
                                  ferrosz_error *error);

// Copies the stream at the start of `stream`, device memory of `room` bytes, to the start of `output`, without the chunks that
// updates replaced. `output` is other device memory with room for `output_room` bytes; the copy is not longer than the stream.
// Stores its length in `bytes`; with FERROSZ_OUTPUT_TOO_SMALL, the room that is needed. Both are aligned to 16 bytes. Waits
// for the work on `cuda_stream`.
ferrosz_status ferrosz_gpu_compact(const ferrosz_gpu *gpu,
                                   void *cuda_stream,
                                   const void *stream,
                                   uint64_t room,
                                   void *output,
                                   uint64_t output_room,
                                   uint64_t *bytes,
                                   ferrosz_error *error);

// Makes room for a message of `bytes` bytes from a member, which the caller fills before the function `exchange` of its
// group returns. Null if there is no memory, or the inbox is null.
uint8_t *ferrosz_inbox_add(ferrosz_inbox *inbox,
                           uint64_t rank,
                           uint64_t bytes);

// Compresses the part of a field that this member of a group has. All members call it with the same settings; the extents
// of the compressor are those of the whole field. Together they write one stream by the function `write` of the group,
// with the bytes that ferrosz_compress of the whole field makes. The members choose a preset's codec together, among the
// codecs that need no mask.
//
// The part is a box of the field: `starts` and `lengths` of as many dimensions as the field has, slowest first; `values`
// are its `elements` values in C order. The boxes of all members make the field; some may be empty. The bound is that of
// the whole field, also a relative one. The least is sent between members if boxes begin at multiples of the chunks'
// extents.
//
// The device of the compressor is the CPU unless it has another one; of several GPUs the members take turns. On a GPU a
// member compresses a slab of whole chunks along the slowest axis, which other members send it as far as it does not have
// it. If one member has no GPU, or if there are fewer slabs than members, all use their CPUs.
//
// Stores the length of the stream in `bytes`, which may be null. The header is written last, so that a file is no stream
// before all members have written their parts. An error of one member is an error of all: it has its own text, the others
// FERROSZ_GROUP_FAILED.
ferrosz_status ferrosz_compress_part(const ferrosz_compressor *compressor,
                                     const ferrosz_group *group,
                                     uint64_t dimensions,
                                     const uint64_t *starts,
                                     const uint64_t *lengths,
                                     ferrosz_type type,
                                     const void *values,
                                     uint64_t elements,
                                     uint64_t *bytes,
                                     ferrosz_error *error);

// Reads the properties of a stream from its first bytes; its chunks may be missing. Null if it fails. Free it with
// ferrosz_info_free.
ferrosz_info *ferrosz_info_new(const void *stream,
                               uint64_t bytes,
                               ferrosz_error *error);

// Frees an info. Does nothing with a null pointer.
void ferrosz_info_free(ferrosz_info *info);

// The type of the values.
ferrosz_type ferrosz_info_type(const ferrosz_info *info);

// Whether the values are the parts of complex numbers: along the last axis, of length 2, the real and the imaginary part.
bool ferrosz_info_is_complex(const ferrosz_info *info);

// The name of the codec, until the info is freed.
const char *ferrosz_info_codec(const ferrosz_info *info);

// The dimensions of blocks or tiles.
uint32_t ferrosz_info_rank(const ferrosz_info *info);

// The tiles of a chunk of a codec of tiles; 0 with codecs of blocks.
uint32_t ferrosz_info_chunk_tiles(const ferrosz_info *info);

// How many levels are coded apart.
uint32_t ferrosz_info_levels_apart(const ferrosz_info *info);

// The role of each axis, as "s,z,y,x", until the info is freed.
const char *ferrosz_info_axes(const ferrosz_info *info);

// The number of dimensions of the field, 1 to 8.
uint64_t ferrosz_info_dimensions(const ferrosz_info *info);

// The extents of the field, slowest dimension first: ferrosz_info_dimensions lengths, until the info is freed.
const uint64_t *ferrosz_info_extents(const ferrosz_info *info);

// The number of elements.
uint64_t ferrosz_info_elements(const ferrosz_info *info);

// The mode of the error bound, as the user gave it.
ferrosz_bound_mode ferrosz_info_bound_mode(const ferrosz_info *info);

// The error bound, as the user gave it.
double ferrosz_info_bound(const ferrosz_info *info);

// The absolute error that follows from the bound; 0 is lossless. Infinity with FERROSZ_PWREL, unless the stream is
// lossless.
double ferrosz_info_absolute_error(const ferrosz_info *info);

// The number of fill values; NaN may be among them.
uint64_t ferrosz_info_fill_count(const ferrosz_info *info);

// The fill values: ferrosz_info_fill_count numbers, until the info is freed.
const double *ferrosz_info_fills(const ferrosz_info *info);

// Whether the signs of all values are coded apart, and so come back with any codec.
bool ferrosz_info_keeps_signs(const ferrosz_info *info);

// Whether zeros are coded apart, and so come back with any codec.
bool ferrosz_info_keeps_zeros(const ferrosz_info *info);

// The number of chunks.
uint64_t ferrosz_info_chunks(const ferrosz_info *info);

// Bytes of the stream.
uint64_t ferrosz_info_stream_bytes(const ferrosz_info *info);

// Bytes of the uncompressed field.
uint64_t ferrosz_info_field_bytes(const ferrosz_info *info);

// The length that an axis of so many values has in a level: a level has the values whose coordinates can all be divided
// by 2^level. The axis of the parts of complex numbers has both in each level.
uint64_t ferrosz_level_length(uint64_t length,
                              uint32_t level);

// As ferrosz_decompress_box, for the values of a level in a box of the field; without dimensions, in all of it. Level 0 has
// all values. Only what the level needs is decoded if the stream has levels apart (ferrosz_compressor_set_levels); of other
// streams all of the box is.
ferrosz_status ferrosz_decompress_level(const ferrosz_decompressor *decompressor,
                                        const void *stream,
                                        uint64_t bytes,
                                        uint32_t level,
                                        uint64_t dimensions,
                                        const uint64_t *starts,
                                        const uint64_t *lengths,
                                        ferrosz_type type,
                                        void *values,
                                        uint64_t room,
                                        uint64_t *elements,
                                        ferrosz_error *error);

// Finds the values of the decoded field that are at least `low` and at most `high`; -INFINITY and INFINITY are no limits. NaNs
// and fill values are never found. With statistics only the chunks are decoded that may have such values. `decompressor` may
// be null. Runs on the CPU. Null if it fails. Free it with ferrosz_matches_free.
ferrosz_matches *ferrosz_matches_new(const ferrosz_decompressor *decompressor,
                                     const void *stream,
                                     uint64_t bytes,
                                     double low,
                                     double high,
                                     ferrosz_error *error);

// As ferrosz_matches_new, of the stream in the file of this path. Only the bytes that are needed are read.
ferrosz_matches *ferrosz_matches_of_file(const ferrosz_decompressor *decompressor,
                                         const char *path,
                                         double low,
                                         double high,
                                         ferrosz_error *error);

// Frees matches. Does nothing with a null pointer.
void ferrosz_matches_free(ferrosz_matches *matches);

// The number of values that were found.
uint64_t ferrosz_matches_count(const ferrosz_matches *matches);

// The numbers of the elements that were found, in C order, ascending: ferrosz_matches_count numbers, until the matches are
// freed.
const uint64_t *ferrosz_matches_elements(const ferrosz_matches *matches);

// The values that were found, of any type: ferrosz_matches_count numbers in the order of ferrosz_matches_elements, until the
// matches are freed.
const double *ferrosz_matches_values(const ferrosz_matches *matches);

// Whether the stream has statistics. Without them all chunks are decoded.
bool ferrosz_matches_have_statistics(const ferrosz_matches *matches);

// The chunks of the field.
uint64_t ferrosz_matches_chunks(const ferrosz_matches *matches);

// The chunks that were decoded, because their statistics do not exclude such a value.
uint64_t ferrosz_matches_chunks_read(const ferrosz_matches *matches);

// Bytes of the stream that were read.
uint64_t ferrosz_matches_bytes_read(const ferrosz_matches *matches);

// Makes a pipeline. `stage` is "rans", "huffman", "bit-planes", "fixed-length", "ferrosz" or "plain". `bound_mode` is
// FERROSZ_ABS, FERROSZ_RANGE or FERROSZ_MAX, and `bound` the error bound in this mode. Null if it fails. Free it with
// ferrosz_pipeline_free.
ferrosz_pipeline *ferrosz_pipeline_new(const char *stage,
                                       ferrosz_bound_mode bound_mode,
                                       double bound,
                                       ferrosz_error *error);

// Frees a pipeline. Does nothing with a null pointer.
void ferrosz_pipeline_free(ferrosz_pipeline *pipeline);

// Sets the extents of the fields: `dimensions` lengths, slowest dimension first. Without extents a field is a line.
ferrosz_status ferrosz_pipeline_set_extents(ferrosz_pipeline *pipeline,
                                            uint64_t dimensions,
                                            const uint64_t *extents,
                                            ferrosz_error *error);

// Sets the dimensions along which is predicted, 1 to 3, the last ones. Without it they are those of the field.
ferrosz_status ferrosz_pipeline_set_rank(ferrosz_pipeline *pipeline,
                                         uint32_t rank,
                                         ferrosz_error *error);

// Sets the codes between interpolator and stage: `bytes` of each, 1, 2 (the default) or 4, and their order, `by_level` or
// that of the field (the default).
ferrosz_status ferrosz_pipeline_set_codes(ferrosz_pipeline *pipeline,
                                          uint32_t bytes,
                                          bool by_level,
                                          ferrosz_error *error);

// Sets the radius of codes: values whose codes would not be below it in magnitude are outliers. With 0 it is the least
// with which all codes fit. Without this call all but about a thousandth of a sample fit.
ferrosz_status ferrosz_pipeline_set_radius(ferrosz_pipeline *pipeline,
                                           uint32_t radius,
                                           ferrosz_error *error);

// Tunes as a mode of FZGPUModules' stage does, 0 to 5. `alpha` and `beta` are for mode 5 alone, and otherwise 0; there a 0
// falls back to the alpha that follows from the bound, and to the beta 4. Without this call tuning is for the fewest bytes.
ferrosz_status ferrosz_pipeline_set_mode(ferrosz_pipeline *pipeline,
                                         uint32_t mode,
                                         double alpha,
                                         double beta,
                                         ferrosz_error *error);

// Sets where fields are decomposed: "auto" (the default), "cpu", "cuda" or "cuda:1". The bytes are the same.
ferrosz_status ferrosz_pipeline_set_device(ferrosz_pipeline *pipeline,
                                           const char *device,
                                           ferrosz_error *error);

// Compresses a field of `elements` values of `type`, FERROSZ_F32 or FERROSZ_F64, to a container of parts. Free it with
// ferrosz_buffer_free. Null if it fails.
ferrosz_buffer *ferrosz_pipeline_compress(const ferrosz_pipeline *pipeline,
                                          ferrosz_type type,
                                          const void *field,
                                          uint64_t elements,
                                          ferrosz_error *error);

// Decompresses a container of parts of `bytes` bytes to the start of `values`, which has room for `room` values of `type`,
// and stores the number of elements in `elements`, which may be null; with too little room that is the room needed.
// `device` is as for ferrosz_pipeline_set_device, and may be null.
ferrosz_status ferrosz_pipeline_decompress(const char *device,
                                           const void *container,
                                           uint64_t bytes,
                                           ferrosz_type type,
                                           void *values,
                                           uint64_t room,
                                           uint64_t *elements,
                                           ferrosz_error *error);

// Decompresses the whole chunks of a damaged stream to the start of `values`, which has room for `room` values of `type`, and
// stores the number of elements in `elements`, which may be null. Lost elements are NaN, or 0 in integer types. The end of
// the stream may be missing. The result names the damaged chunks; it has none if the stream is whole. Null if nothing can be
// decoded, as without the header. `decompressor` may be null. Runs on the CPU. Free the result with ferrosz_damages_free.
ferrosz_damages *ferrosz_salvage(const ferrosz_decompressor *decompressor,
                                 const void *stream,
                                 uint64_t bytes,
                                 ferrosz_type type,
                                 void *values,
                                 uint64_t room,
                                 uint64_t *elements,
                                 ferrosz_error *error);

// Frees damages. Does nothing with a null pointer.
void ferrosz_damages_free(ferrosz_damages *damages);

// The number of damaged chunks.
uint64_t ferrosz_damages_count(const ferrosz_damages *damages);

// The number of dimensions of the field.
uint64_t ferrosz_damages_dimensions(const ferrosz_damages *damages);

// The number of the damaged chunk of damage `number`.
uint64_t ferrosz_damages_chunk(const ferrosz_damages *damages, uint64_t number);

// The cause of damage `number`, until the damages are freed.
const char *ferrosz_damages_cause(const ferrosz_damages *damages, uint64_t number);

// The number of elements that are lost with damage `number`.
uint64_t ferrosz_damages_elements(const ferrosz_damages *damages, uint64_t number);

// The number of boxes that the lost elements of damage `number` are. No element is in two boxes, but those of chunks of a
// mask.
uint64_t ferrosz_damages_boxes(const ferrosz_damages *damages,
                               uint64_t number);

// Where box `part` of damage `number` begins along each dimension, until the damages are freed; null if there is no such
// box.
const uint64_t *ferrosz_damages_starts(const ferrosz_damages *damages,
                                       uint64_t number,
                                       uint64_t part);

// The lengths of box `part` of damage `number`, until the damages are freed; null if there is no such box.
const uint64_t *ferrosz_damages_lengths(const ferrosz_damages *damages,
                                        uint64_t number,
                                        uint64_t part);

// Compresses a field of `elements` values with an absolute bound that is searched for, so that its stream reaches a target.
// The bound of the compressor is not used. `target` is "psnr" (at least so many decibels), "rmse" (at most this root of the
// mean squared error), "mae" (at most this mean of the absolute errors) or "ratio" (at least so many bytes of the field for
// each of the stream). Null if it fails, also if no bound reaches the ratio. Free it with ferrosz_search_free.
ferrosz_search *ferrosz_search_new(const ferrosz_compressor *compressor,
                                   const char *target,
                                   double value,
                                   ferrosz_type type,
                                   const void *field,
                                   uint64_t elements,
                                   ferrosz_error *error);

// Frees a search and its stream. Does nothing with a null pointer.
void ferrosz_search_free(ferrosz_search *search);

// The compressor that makes the stream: with the absolute bound that was found, and with codec and rank. Null if it fails.
// Free it with ferrosz_compressor_free.
ferrosz_compressor *ferrosz_search_compressor(const ferrosz_search *search,
                                              ferrosz_error *error);

// The bytes of the stream, until the search is freed.
const uint8_t *ferrosz_search_stream(const ferrosz_search *search);

// The number of bytes of the stream.
uint64_t ferrosz_search_stream_bytes(const ferrosz_search *search);

// The absolute bound that was found; 0 is lossless.
double ferrosz_search_bound(const ferrosz_search *search);

// The peak signal-to-noise ratio of the stream in decibels; infinity without error.
double ferrosz_search_psnr(const ferrosz_search *search);

// The root of the mean squared error of the stream.
double ferrosz_search_rmse(const ferrosz_search *search);

// The mean of the absolute errors of the stream.
double ferrosz_search_mae(const ferrosz_search *search);

// Bytes of the field over bytes of the stream.
double ferrosz_search_ratio(const ferrosz_search *search);

// Reads the statistics of a stream: those of the field before it was compressed, in which NaNs and fill values do not count.
// Only the bytes that are needed are read. Null if it fails; a stream without statistics is no failure, see
// ferrosz_statistics_exist. Free it with ferrosz_statistics_free.
ferrosz_statistics *ferrosz_statistics_new(const void *stream,
                                           uint64_t bytes,
                                           ferrosz_error *error);

// As ferrosz_statistics_new, of the stream in the file of this path.
ferrosz_statistics *ferrosz_statistics_of_file(const char *path, ferrosz_error *error);

// Frees statistics. Does nothing with a null pointer.
void ferrosz_statistics_free(ferrosz_statistics *statistics);

// Whether the stream has statistics. Without them all numbers are 0, or NaN.
bool ferrosz_statistics_exist(const ferrosz_statistics *statistics);

// Whether updates have replaced values since the statistics were made.
bool ferrosz_statistics_are_outdated(const ferrosz_statistics *statistics);

// The smallest value of the field; NaN if all are missing.
double ferrosz_statistics_min(const ferrosz_statistics *statistics);

// The largest value of the field; NaN if all are missing.
double ferrosz_statistics_max(const ferrosz_statistics *statistics);

// The mean of the field; NaN if all values are missing, or if there are infinities with both signs.
double ferrosz_statistics_mean(const ferrosz_statistics *statistics);

// The number of values that are not missing.
uint64_t ferrosz_statistics_count(const ferrosz_statistics *statistics);

// Bytes of the statistics in the stream.
uint64_t ferrosz_statistics_bytes(const ferrosz_statistics *statistics);

// The number of groups of consecutive chunks that have statistics of their own.
uint64_t ferrosz_statistics_groups(const ferrosz_statistics *statistics);

// The chunks of a group; the last one may have fewer.
uint64_t ferrosz_statistics_group_chunks(const ferrosz_statistics *statistics);

// The smallest value of group `number`; NaN if all are missing. The first group is 0.
double ferrosz_statistics_group_min(const ferrosz_statistics *statistics, uint64_t number);

// The largest value of group `number`; NaN if all are missing.
double ferrosz_statistics_group_max(const ferrosz_statistics *statistics, uint64_t number);

// The mean of group `number`; NaN if all values are missing, or if there are infinities with both signs.
double ferrosz_statistics_group_mean(const ferrosz_statistics *statistics,
                                     uint64_t number);

// The number of values of group `number` that are not missing.
uint64_t ferrosz_statistics_group_count(const ferrosz_statistics *statistics, uint64_t number);

// The boxes of the field that the elements of group `number` are. No element is in two of them. Null if it fails. Free it
// with ferrosz_boxes_free.
ferrosz_boxes *ferrosz_statistics_group_boxes(const ferrosz_statistics *statistics,
                                              uint64_t number,
                                              ferrosz_error *error);

// Makes the update that replaces a box of a stream's field by `elements` values of `type`, the type of the stream: `starts`
// and `lengths` of as many dimensions as the field has. Only chunks that hold some of the box are read and coded again,
// within the absolute error of the stream. Codecs of tiles have no updates. The stream stays as it is, until the bytes of the
// update are written: first those of ferrosz_update_appended from byte ferrosz_update_append_at on, where the stream ends
// then, and after them, at its start, those of ferrosz_update_header. In this order the stream is complete at every moment.
// Null if it fails. Free it with ferrosz_update_free.
ferrosz_update *ferrosz_update_new(const void *stream,
                                   uint64_t bytes,
                                   uint64_t dimensions,
                                   const uint64_t *starts,
                                   const uint64_t *lengths,
                                   ferrosz_type type,
                                   const void *values,
                                   uint64_t elements,
                                   ferrosz_error *error);

// Frees an update. Does nothing with a null pointer.
void ferrosz_update_free(ferrosz_update *update);

// The updated stream, from the one that the update was made for. Null if it fails. ferrosz_buffer_free frees it.
ferrosz_buffer *ferrosz_update_apply(const ferrosz_update *update,
                                     const void *stream,
                                     uint64_t bytes,
                                     ferrosz_error *error);

// The end of the stream, from where on the appended bytes are.
uint64_t ferrosz_update_append_at(const ferrosz_update *update);

// The bytes to append, until the update is freed.
const uint8_t *ferrosz_update_appended(const ferrosz_update *update);

// The number of bytes to append.
uint64_t ferrosz_update_appended_bytes(const ferrosz_update *update);

// The bytes that replace the first ones of the stream, until the update is freed.
const uint8_t *ferrosz_update_header(const ferrosz_update *update);

// The number of bytes that replace the first ones of the stream.
uint64_t ferrosz_update_header_bytes(const ferrosz_update *update);

// The number of chunks that are coded again.
uint64_t ferrosz_update_chunks(const ferrosz_update *update);

// Decompresses a stream of `bytes` bytes and compares it with the original, `elements` values of `type`. The bound is judged
// in exact arithmetic, by code that compression does not use. Null if it fails. `decompressor` may be null. Free the result
// with ferrosz_verification_free.
ferrosz_verification *ferrosz_verification_new(const ferrosz_decompressor *decompressor,
                                               ferrosz_type type,
                                               const void *original,
                                               uint64_t elements,
                                               const void *stream,
                                               uint64_t bytes,
                                               ferrosz_error *error);

// Frees a verification. Does nothing with a null pointer.
void ferrosz_verification_free(ferrosz_verification *verification);

// Whether all errors are within the bound and within the error that the stream promises, and all NaNs and infinities came
// back.
bool ferrosz_verification_kept(const ferrosz_verification *verification);

// The number of values whose error is above the user's bound.
uint64_t ferrosz_verification_over_limit(const ferrosz_verification *verification);

// The absolute error that the user's bound is on this original; infinity with FERROSZ_PWREL.
double ferrosz_verification_limit(const ferrosz_verification *verification);

// The largest error.
double ferrosz_verification_largest_error(const ferrosz_verification *verification);

// The index of the largest error; 2^64 - 1 if no value has one.
uint64_t ferrosz_verification_largest_error_at(const ferrosz_verification *verification);

// The peak signal-to-noise ratio in decibels, the peak being the range of the original; infinity without error.
double ferrosz_verification_psnr(const ferrosz_verification *verification);

// The root of the mean squared error.
double ferrosz_verification_rmse(const ferrosz_verification *verification);

// The structural similarity, 1 without error; NaN if the field has none.
double ferrosz_verification_ssim(const ferrosz_verification *verification);

// The version of the library, such as "0.1.0".
const char *ferrosz_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FERROSZ_H */
