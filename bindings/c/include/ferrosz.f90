! The C interface of ferrosz for Fortran. ferrosz.h documents each function; names and order of arguments are the same.
!
! Objects, fields, streams and buffers are of type(c_ptr): c_loc(field) for an array with the attribute target, and
! c_null_ptr where C takes a null pointer. Texts end with c_null_char. The extents of a Fortran array are given in reverse
! order, because its first dimension is the fastest, and the library takes the slowest first.
module ferrosz
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int32_t), parameter :: FERROSZ_OK = 0
    integer(c_int32_t), parameter :: FERROSZ_INVALID_ARGUMENT = 1
    integer(c_int32_t), parameter :: FERROSZ_OUTPUT_TOO_SMALL = 2
    integer(c_int32_t), parameter :: FERROSZ_DAMAGED_STREAM = 3
    integer(c_int32_t), parameter :: FERROSZ_UNKNOWN_STREAM = 4
    integer(c_int32_t), parameter :: FERROSZ_WRONG_TYPE = 5
    integer(c_int32_t), parameter :: FERROSZ_OUT_OF_MEMORY = 6
    integer(c_int32_t), parameter :: FERROSZ_NO_DEVICE = 7
    integer(c_int32_t), parameter :: FERROSZ_CUDA_FAILED = 8
    integer(c_int32_t), parameter :: FERROSZ_INTERNAL = 9
    integer(c_int32_t), parameter :: FERROSZ_GROUP_FAILED = 10
    integer(c_int32_t), parameter :: FERROSZ_READ_FAILED = 11
    integer(c_int32_t), parameter :: FERROSZ_F32 = 1
    integer(c_int32_t), parameter :: FERROSZ_F64 = 2
    integer(c_int32_t), parameter :: FERROSZ_F16 = 3
    integer(c_int32_t), parameter :: FERROSZ_BF16 = 4
    integer(c_int32_t), parameter :: FERROSZ_I16 = 5
    integer(c_int32_t), parameter :: FERROSZ_U16 = 6
    integer(c_int32_t), parameter :: FERROSZ_I32 = 7
    integer(c_int32_t), parameter :: FERROSZ_U32 = 8
    integer(c_int32_t), parameter :: FERROSZ_ABS = 0
    integer(c_int32_t), parameter :: FERROSZ_RANGE = 1
    integer(c_int32_t), parameter :: FERROSZ_MAX = 2
    integer(c_int32_t), parameter :: FERROSZ_PWREL = 3

    !> The members that compress one field together. The functions are given by c_funloc; ferrosz.h has their arguments.
    type, bind(c) :: ferrosz_group
        type(c_ptr) :: context
        integer(c_int64_t) :: rank, size
        type(c_funptr) :: max, sum, sum_before, exchange, write, barrier
    end type

    !> A message to another member.
    type, bind(c) :: ferrosz_message
        integer(c_int64_t) :: rank
        type(c_ptr) :: data
        integer(c_int64_t) :: bytes
    end type

    !> A piece of a stream.
    type, bind(c) :: ferrosz_piece
        integer(c_int64_t) :: start
        type(c_ptr) :: data
        integer(c_int64_t) :: bytes
    end type

    interface
        function ferrosz_bare_new(format, type, dimensions, extents, error) bind(c)
            import
            character(kind=c_char), intent(in) :: format(*)
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: dimensions
            integer(c_int64_t), intent(in) :: extents(*)
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_bare_new
        end function
        subroutine ferrosz_bare_free(bare) bind(c)
            import
            type(c_ptr), value :: bare
        end subroutine
        function ferrosz_bare_set_mode(bare, mode, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            character(kind=c_char), intent(in) :: mode(*)
            integer(c_int32_t) :: ferrosz_bare_set_mode
        end function
        function ferrosz_bare_set_rank(bare, rank, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            integer(c_int32_t), value :: rank
            integer(c_int32_t) :: ferrosz_bare_set_rank
        end function
        function ferrosz_bare_set_v1(bare, v1, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            logical(c_bool), value :: v1
            integer(c_int32_t) :: ferrosz_bare_set_v1
        end function
        function ferrosz_bare_set_strict(bare, strict, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            logical(c_bool), value :: strict
            integer(c_int32_t) :: ferrosz_bare_set_strict
        end function
        function ferrosz_bare_set_allow_missing(bare, allow, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            logical(c_bool), value :: allow
            integer(c_int32_t) :: ferrosz_bare_set_allow_missing
        end function
        function ferrosz_bare_set_device(bare, device, error) bind(c)
            import
            type(c_ptr), value :: bare, error
            character(kind=c_char), intent(in) :: device(*)
            integer(c_int32_t) :: ferrosz_bare_set_device
        end function
        function ferrosz_bare_set_bound(bare, bound_mode, bound, float_bound, field, elements, error) bind(c)
            import
            type(c_ptr), value :: bare, field, error
            integer(c_int32_t), value :: bound_mode
            real(c_double), value :: bound
            logical(c_bool), value :: float_bound
            integer(c_int64_t), value :: elements
            integer(c_int32_t) :: ferrosz_bare_set_bound
        end function
        function ferrosz_bare_error(bare) bind(c)
            import
            type(c_ptr), value :: bare
            real(c_double) :: ferrosz_bare_error
        end function
        function ferrosz_outline_new(bare, stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, error
            integer(c_int64_t), value :: bytes
            type(c_ptr) :: ferrosz_outline_new
        end function
        subroutine ferrosz_outline_free(outline) bind(c)
            import
            type(c_ptr), value :: outline
        end subroutine
        function ferrosz_outline_stream_bytes(outline) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int64_t) :: ferrosz_outline_stream_bytes
        end function
        function ferrosz_outline_rate_bytes(outline) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int64_t) :: ferrosz_outline_rate_bytes
        end function
        function ferrosz_outline_between_bytes(outline) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int64_t) :: ferrosz_outline_between_bytes
        end function
        function ferrosz_outline_body_bytes(outline) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int64_t) :: ferrosz_outline_body_bytes
        end function
        function ferrosz_outline_zero_blocks(outline) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int64_t) :: ferrosz_outline_zero_blocks
        end function
        function ferrosz_outline_blocks(outline, rate_byte) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int32_t), value :: rate_byte
            integer(c_int64_t) :: ferrosz_outline_blocks
        end function
        function ferrosz_outline_block_bytes(outline, rate_byte) bind(c)
            import
            type(c_ptr), value :: outline
            integer(c_int32_t), value :: rate_byte
            integer(c_int64_t) :: ferrosz_outline_block_bytes
        end function
        function ferrosz_bare_decompress_box(bare, stream, bytes, dimensions, starts, lengths, values, room, &
                elements, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, values, error
            integer(c_int64_t), value :: bytes, dimensions, room
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_bare_decompress_box
        end function
        function ferrosz_bare_decompress_elements(bare, stream, bytes, start, count, values, room, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, values, error
            integer(c_int64_t), value :: bytes, start, count, room
            integer(c_int32_t) :: ferrosz_bare_decompress_elements
        end function
        function ferrosz_bare_replace_box(bare, stream, bytes, dimensions, starts, lengths, values, elements, &
                units, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, values, error
            integer(c_int64_t), value :: bytes, dimensions, elements
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int64_t), intent(out) :: units
            integer(c_int32_t) :: ferrosz_bare_replace_box
        end function
        function ferrosz_bare_replace_elements(bare, stream, bytes, start, values, elements, units, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, values, error
            integer(c_int64_t), value :: bytes, start, elements
            integer(c_int64_t), intent(out) :: units
            integer(c_int32_t) :: ferrosz_bare_replace_elements
        end function
        function ferrosz_bare_compress(bare, field, elements, error) bind(c)
            import
            type(c_ptr), value :: bare, field, error
            integer(c_int64_t), value :: elements
            type(c_ptr) :: ferrosz_bare_compress
        end function
        function ferrosz_bare_decompress(bare, stream, bytes, values, room, elements, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, values, error
            integer(c_int64_t), value :: bytes, room
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_bare_decompress
        end function
        function ferrosz_bare_check(bare, stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: bare, stream, error
            integer(c_int64_t), value :: bytes
            integer(c_int32_t) :: ferrosz_bare_check
        end function
        function ferrosz_compress_batch(compressor, type, fields, elements, count, error) bind(c)
            import
            type(c_ptr), value :: compressor, fields, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(in) :: elements(*)
            integer(c_int64_t), value :: count
            type(c_ptr) :: ferrosz_compress_batch
        end function
        subroutine ferrosz_batch_free(batch) bind(c)
            import
            type(c_ptr), value :: batch
        end subroutine
        function ferrosz_batch_stream(batch, number) bind(c)
            import
            type(c_ptr), value :: batch
            integer(c_int64_t), value :: number
            type(c_ptr) :: ferrosz_batch_stream
        end function
        function ferrosz_batch_stream_bytes(batch, number) bind(c)
            import
            type(c_ptr), value :: batch
            integer(c_int64_t), value :: number
            integer(c_int64_t) :: ferrosz_batch_stream_bytes
        end function
        function ferrosz_decompress_batch(decompressor, streams, bytes, type, values, rooms, count, statuses, &
                error) bind(c)
            import
            type(c_ptr), value :: decompressor, streams, values, statuses, error
            integer(c_int64_t), intent(in) :: bytes(*), rooms(*)
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: count
            integer(c_int32_t) :: ferrosz_decompress_batch
        end function
        function ferrosz_buffer_data(buffer) bind(c)
            import
            type(c_ptr), value :: buffer
            type(c_ptr) :: ferrosz_buffer_data
        end function
        function ferrosz_buffer_bytes(buffer) bind(c)
            import
            type(c_ptr), value :: buffer
            integer(c_int64_t) :: ferrosz_buffer_bytes
        end function
        subroutine ferrosz_buffer_free(buffer) bind(c)
            import
            type(c_ptr), value :: buffer
        end subroutine
        function ferrosz_check(stream, bytes, damaged_chunks, error) bind(c)
            import
            type(c_ptr), value :: stream, error
            integer(c_int64_t), value :: bytes
            integer(c_int64_t), intent(out) :: damaged_chunks
            integer(c_int32_t) :: ferrosz_check
        end function
        function ferrosz_max_stream_bytes(type, elements) bind(c)
            import
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int64_t) :: ferrosz_max_stream_bytes
        end function
        function ferrosz_compressor_max_stream_bytes(compressor, type, elements, bytes, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_compressor_max_stream_bytes
        end function
        function ferrosz_compress(compressor, type, field, elements, stream, room, bytes, error) bind(c)
            import
            type(c_ptr), value :: compressor, field, stream, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements, room
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_compress
        end function
        function ferrosz_compress_to_buffer(compressor, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: compressor, field, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            type(c_ptr) :: ferrosz_compress_to_buffer
        end function
        function ferrosz_compressor_new(codec, bound_mode, bound, error) bind(c)
            import
            character(kind=c_char), intent(in) :: codec(*)
            integer(c_int32_t), value :: bound_mode
            real(c_double), value :: bound
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_compressor_new
        end function
        subroutine ferrosz_compressor_free(compressor) bind(c)
            import
            type(c_ptr), value :: compressor
        end subroutine
        function ferrosz_compressor_copy(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            type(c_ptr) :: ferrosz_compressor_copy
        end function
        function ferrosz_compressor_set_extents(compressor, dimensions, extents, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int64_t), value :: dimensions
            integer(c_int64_t), intent(in) :: extents(*)
            integer(c_int32_t) :: ferrosz_compressor_set_extents
        end function
        function ferrosz_compressor_set_complex(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t) :: ferrosz_compressor_set_complex
        end function
        function ferrosz_compressor_add_fill(compressor, fill, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: fill
            integer(c_int32_t) :: ferrosz_compressor_add_fill
        end function
        function ferrosz_compressor_add_fill_bits(compressor, bits, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int64_t), value :: bits
            integer(c_int32_t) :: ferrosz_compressor_add_fill_bits
        end function
        function ferrosz_compressor_keep_above(compressor, number, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: number
            integer(c_int32_t) :: ferrosz_compressor_keep_above
        end function
        function ferrosz_compressor_set_limits(compressor, low, high, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: low, high
            integer(c_int32_t) :: ferrosz_compressor_set_limits
        end function
        function ferrosz_compressor_bound_log(compressor, bound, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: bound
            integer(c_int32_t) :: ferrosz_compressor_bound_log
        end function
        function ferrosz_compressor_bound_exp(compressor, bound, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: bound
            integer(c_int32_t) :: ferrosz_compressor_bound_exp
        end function
        function ferrosz_compressor_bound_square(compressor, bound, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            real(c_double), value :: bound
            integer(c_int32_t) :: ferrosz_compressor_bound_square
        end function
        function ferrosz_compressor_keep_order(compressor, axis, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: axis
            integer(c_int32_t) :: ferrosz_compressor_keep_order
        end function
        function ferrosz_compressor_add_statistics(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t) :: ferrosz_compressor_add_statistics
        end function
        function ferrosz_compressor_add_small_statistics(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t) :: ferrosz_compressor_add_small_statistics
        end function
        function ferrosz_compressor_detect_fills(compressor, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: compressor, field, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int32_t) :: ferrosz_compressor_detect_fills
        end function
        function ferrosz_compressor_keep_signs(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t) :: ferrosz_compressor_keep_signs
        end function
        function ferrosz_compressor_keep_zeros(compressor, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t) :: ferrosz_compressor_keep_zeros
        end function
        function ferrosz_compressor_set_axes(compressor, axes, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            character(kind=c_char), intent(in) :: axes(*)
            integer(c_int32_t) :: ferrosz_compressor_set_axes
        end function
        function ferrosz_compressor_set_rank(compressor, rank, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: rank
            integer(c_int32_t) :: ferrosz_compressor_set_rank
        end function
        function ferrosz_compressor_set_chunk_tiles(compressor, tiles, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: tiles
            integer(c_int32_t) :: ferrosz_compressor_set_chunk_tiles
        end function
        function ferrosz_compressor_set_levels(compressor, levels, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: levels
            integer(c_int32_t) :: ferrosz_compressor_set_levels
        end function
        function ferrosz_compressor_set_preference(compressor, preference, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            character(kind=c_char), intent(in) :: preference(*)
            integer(c_int32_t) :: ferrosz_compressor_set_preference
        end function
        function ferrosz_compressor_set_device(compressor, device, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            character(kind=c_char), intent(in) :: device(*)
            integer(c_int32_t) :: ferrosz_compressor_set_device
        end function
        function ferrosz_compressor_choose(compressor, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: compressor, field, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int32_t) :: ferrosz_compressor_choose
        end function
        function ferrosz_decompress(decompressor, stream, bytes, type, values, room, elements, &
            error) bind(c)
            import
            type(c_ptr), value :: decompressor, stream, values, error
            integer(c_int64_t), value :: bytes, room
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_decompress
        end function
        function ferrosz_decompress_box(decompressor, stream, bytes, dimensions, starts, &
            lengths, type, values, room, elements, error) bind(c)
            import
            type(c_ptr), value :: decompressor, stream, values, error
            integer(c_int64_t), value :: bytes, dimensions, room
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_decompress_box
        end function
        function ferrosz_decompress_level(decompressor, stream, bytes, level, dimensions, starts, &
            lengths, type, values, room, elements, error) bind(c)
            import
            type(c_ptr), value :: decompressor, stream, values, error
            integer(c_int64_t), value :: bytes, dimensions, room
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: level, type
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_decompress_level
        end function
        function ferrosz_level_length(length, level) bind(c)
            import
            integer(c_int64_t), value :: length
            integer(c_int32_t), value :: level
            integer(c_int64_t) :: ferrosz_level_length
        end function
        function ferrosz_decompressor_new(error) bind(c)
            import
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_decompressor_new
        end function
        subroutine ferrosz_decompressor_free(decompressor) bind(c)
            import
            type(c_ptr), value :: decompressor
        end subroutine
        function ferrosz_decompressor_set_device(decompressor, device, error) bind(c)
            import
            type(c_ptr), value :: decompressor, error
            character(kind=c_char), intent(in) :: device(*)
            integer(c_int32_t) :: ferrosz_decompressor_set_device
        end function
        function ferrosz_decompressor_verify_checksums(decompressor, verify, error) bind(c)
            import
            type(c_ptr), value :: decompressor, error
            logical(c_bool), value :: verify
            integer(c_int32_t) :: ferrosz_decompressor_verify_checksums
        end function
        function ferrosz_error_new() bind(c)
            import
            type(c_ptr) :: ferrosz_error_new
        end function
        subroutine ferrosz_error_free(error) bind(c)
            import
            type(c_ptr), value :: error
        end subroutine
        function ferrosz_error_status(error) bind(c)
            import
            type(c_ptr), value :: error
            integer(c_int32_t) :: ferrosz_error_status
        end function
        function ferrosz_error_text(error) bind(c)
            import
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_error_text
        end function
        function ferrosz_gpu_new(number, error) bind(c)
            import
            integer(c_int32_t), value :: number
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_gpu_new
        end function
        subroutine ferrosz_gpu_free(gpu) bind(c)
            import
            type(c_ptr), value :: gpu
        end subroutine
        function ferrosz_gpu_choose(gpu, cuda_stream, compressor, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, compressor, field, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int32_t) :: ferrosz_gpu_choose
        end function
        function ferrosz_gpu_prepare(gpu, compressor, type, elements, error) bind(c)
            import
            type(c_ptr), value :: gpu, compressor, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int32_t) :: ferrosz_gpu_prepare
        end function
        function ferrosz_workspace_new(gpu, cuda_stream, compressor, type, elements, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, compressor, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            type(c_ptr) :: ferrosz_workspace_new
        end function
        function ferrosz_compressor_workspace_bytes(compressor, type, elements, bytes, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_compressor_workspace_bytes
        end function
        function ferrosz_compressor_box_workspace_bytes(compressor, type, elements, dimensions, &
                starts, lengths, bytes, error) bind(c)
            import
            type(c_ptr), value :: compressor, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements, dimensions
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_compressor_box_workspace_bytes
        end function

        function ferrosz_workspace_new_in(gpu, cuda_stream, compressor, type, elements, memory, bytes, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, compressor, memory, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements, bytes
            type(c_ptr) :: ferrosz_workspace_new_in
        end function
        subroutine ferrosz_workspace_free(workspace) bind(c)
            import
            type(c_ptr), value :: workspace
        end subroutine
        function ferrosz_gpu_compress(gpu, cuda_stream, compressor, type, field, elements, &
            stream, room, workspace, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, compressor, field, stream, workspace, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements, room
            integer(c_int32_t) :: ferrosz_gpu_compress
        end function
        function ferrosz_gpu_decompress(gpu, cuda_stream, decompressor, compressor, stream, &
            bytes, type, elements, values, room, workspace, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, decompressor, compressor, stream, values, workspace, error
            integer(c_int64_t), value :: bytes, elements, room
            integer(c_int32_t), value :: type
            integer(c_int32_t) :: ferrosz_gpu_decompress
        end function
        function ferrosz_gpu_decompress_box(gpu, cuda_stream, decompressor, compressor, stream, &
            bytes, elements, dimensions, starts, lengths, type, values, room, workspace, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, decompressor, compressor, stream, values, workspace, error
            integer(c_int64_t), value :: bytes, elements, dimensions, room
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: type
            integer(c_int32_t) :: ferrosz_gpu_decompress_box
        end function
        function ferrosz_gpu_update(gpu, cuda_stream, stream, room, dimensions, starts, lengths, type, &
            values, elements, bytes, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, stream, values, error
            integer(c_int64_t), value :: room, dimensions, elements
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_gpu_update
        end function
        function ferrosz_gpu_compact(gpu, cuda_stream, stream, room, output, output_room, bytes, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, stream, output, error
            integer(c_int64_t), value :: room, output_room
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_gpu_compact
        end function
        function ferrosz_workspace_stream_bytes(gpu, cuda_stream, workspace, bytes, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, workspace, error
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_workspace_stream_bytes
        end function
        function ferrosz_workspace_check(gpu, cuda_stream, workspace, error) bind(c)
            import
            type(c_ptr), value :: gpu, cuda_stream, workspace, error
            integer(c_int32_t) :: ferrosz_workspace_check
        end function
        function ferrosz_workspace_stream_bytes_cell(workspace) bind(c)
            import
            type(c_ptr), value :: workspace
            type(c_ptr) :: ferrosz_workspace_stream_bytes_cell
        end function
        function ferrosz_workspace_fault_cell(workspace) bind(c)
            import
            type(c_ptr), value :: workspace
            type(c_ptr) :: ferrosz_workspace_fault_cell
        end function
        function ferrosz_inbox_add(inbox, rank, bytes) bind(c)
            import
            type(c_ptr), value :: inbox
            integer(c_int64_t), value :: rank, bytes
            type(c_ptr) :: ferrosz_inbox_add
        end function
        function ferrosz_compress_part(compressor, group, dimensions, starts, lengths, type, &
            values, elements, bytes, error) bind(c)
            import
            type(c_ptr), value :: compressor, group, values, error
            integer(c_int64_t), value :: dimensions, elements
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int32_t) :: ferrosz_compress_part
        end function
        function ferrosz_pipeline_new(stage, bound_mode, bound, error) bind(c)
            import
            character(kind=c_char), intent(in) :: stage(*)
            integer(c_int32_t), value :: bound_mode
            real(c_double), value :: bound
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_pipeline_new
        end function
        subroutine ferrosz_pipeline_free(pipeline) bind(c)
            import
            type(c_ptr), value :: pipeline
        end subroutine
        function ferrosz_pipeline_set_extents(pipeline, dimensions, extents, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            integer(c_int64_t), value :: dimensions
            integer(c_int64_t), intent(in) :: extents(*)
            integer(c_int32_t) :: ferrosz_pipeline_set_extents
        end function
        function ferrosz_pipeline_set_rank(pipeline, rank, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            integer(c_int32_t), value :: rank
            integer(c_int32_t) :: ferrosz_pipeline_set_rank
        end function
        function ferrosz_pipeline_set_codes(pipeline, bytes, by_level, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            integer(c_int32_t), value :: bytes
            logical(c_bool), value :: by_level
            integer(c_int32_t) :: ferrosz_pipeline_set_codes
        end function
        function ferrosz_pipeline_set_radius(pipeline, radius, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            integer(c_int32_t), value :: radius
            integer(c_int32_t) :: ferrosz_pipeline_set_radius
        end function
        function ferrosz_pipeline_set_mode(pipeline, mode, alpha, beta, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            integer(c_int32_t), value :: mode
            real(c_double), value :: alpha, beta
            integer(c_int32_t) :: ferrosz_pipeline_set_mode
        end function
        function ferrosz_pipeline_set_device(pipeline, device, error) bind(c)
            import
            type(c_ptr), value :: pipeline, error
            character(kind=c_char), intent(in) :: device(*)
            integer(c_int32_t) :: ferrosz_pipeline_set_device
        end function
        function ferrosz_pipeline_compress(pipeline, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: pipeline, field, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            type(c_ptr) :: ferrosz_pipeline_compress
        end function
        function ferrosz_pipeline_decompress(device, container, bytes, type, values, room, &
            elements, error) bind(c)
            import
            character(kind=c_char), intent(in) :: device(*)
            type(c_ptr), value :: container, values, error
            integer(c_int64_t), value :: bytes, room
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: elements
            integer(c_int32_t) :: ferrosz_pipeline_decompress
        end function
        function ferrosz_verification_new(decompressor, type, original, elements, stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: decompressor, original, stream, error
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements, bytes
            type(c_ptr) :: ferrosz_verification_new
        end function
        subroutine ferrosz_verification_free(verification) bind(c)
            import
            type(c_ptr), value :: verification
        end subroutine
        function ferrosz_verification_kept(verification) bind(c)
            import
            type(c_ptr), value :: verification
            logical(c_bool) :: ferrosz_verification_kept
        end function
        function ferrosz_verification_over_limit(verification) bind(c)
            import
            type(c_ptr), value :: verification
            integer(c_int64_t) :: ferrosz_verification_over_limit
        end function
        function ferrosz_verification_limit(verification) bind(c)
            import
            type(c_ptr), value :: verification
            real(c_double) :: ferrosz_verification_limit
        end function
        function ferrosz_verification_largest_error(verification) bind(c)
            import
            type(c_ptr), value :: verification
            real(c_double) :: ferrosz_verification_largest_error
        end function
        function ferrosz_verification_largest_error_at(verification) bind(c)
            import
            type(c_ptr), value :: verification
            integer(c_int64_t) :: ferrosz_verification_largest_error_at
        end function
        function ferrosz_verification_psnr(verification) bind(c)
            import
            type(c_ptr), value :: verification
            real(c_double) :: ferrosz_verification_psnr
        end function
        function ferrosz_verification_rmse(verification) bind(c)
            import
            type(c_ptr), value :: verification
            real(c_double) :: ferrosz_verification_rmse
        end function
        function ferrosz_verification_ssim(verification) bind(c)
            import
            type(c_ptr), value :: verification
            real(c_double) :: ferrosz_verification_ssim
        end function
        function ferrosz_info_new(stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: stream, error
            integer(c_int64_t), value :: bytes
            type(c_ptr) :: ferrosz_info_new
        end function
        subroutine ferrosz_info_free(info) bind(c)
            import
            type(c_ptr), value :: info
        end subroutine
        function ferrosz_info_type(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int32_t) :: ferrosz_info_type
        end function
        function ferrosz_info_is_complex(info) bind(c)
            import
            type(c_ptr), value :: info
            logical(c_bool) :: ferrosz_info_is_complex
        end function
        function ferrosz_info_codec(info) bind(c)
            import
            type(c_ptr), value :: info
            type(c_ptr) :: ferrosz_info_codec
        end function
        function ferrosz_info_rank(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int32_t) :: ferrosz_info_rank
        end function
        function ferrosz_info_chunk_tiles(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int32_t) :: ferrosz_info_chunk_tiles
        end function
        function ferrosz_info_levels_apart(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int32_t) :: ferrosz_info_levels_apart
        end function
        function ferrosz_info_axes(info) bind(c)
            import
            type(c_ptr), value :: info
            type(c_ptr) :: ferrosz_info_axes
        end function
        function ferrosz_info_dimensions(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_dimensions
        end function
        function ferrosz_info_extents(info) bind(c)
            import
            type(c_ptr), value :: info
            type(c_ptr) :: ferrosz_info_extents
        end function
        function ferrosz_info_elements(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_elements
        end function
        function ferrosz_info_bound_mode(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int32_t) :: ferrosz_info_bound_mode
        end function
        function ferrosz_info_bound(info) bind(c)
            import
            type(c_ptr), value :: info
            real(c_double) :: ferrosz_info_bound
        end function
        function ferrosz_info_absolute_error(info) bind(c)
            import
            type(c_ptr), value :: info
            real(c_double) :: ferrosz_info_absolute_error
        end function
        function ferrosz_info_fill_count(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_fill_count
        end function
        function ferrosz_info_fills(info) bind(c)
            import
            type(c_ptr), value :: info
            type(c_ptr) :: ferrosz_info_fills
        end function
        function ferrosz_info_keeps_signs(info) bind(c)
            import
            type(c_ptr), value :: info
            logical(c_bool) :: ferrosz_info_keeps_signs
        end function
        function ferrosz_info_keeps_zeros(info) bind(c)
            import
            type(c_ptr), value :: info
            logical(c_bool) :: ferrosz_info_keeps_zeros
        end function
        function ferrosz_info_chunks(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_chunks
        end function
        function ferrosz_info_stream_bytes(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_stream_bytes
        end function
        function ferrosz_info_field_bytes(info) bind(c)
            import
            type(c_ptr), value :: info
            integer(c_int64_t) :: ferrosz_info_field_bytes
        end function
        function ferrosz_salvage(decompressor, stream, bytes, type, values, room, elements, error) bind(c)
            import
            type(c_ptr), value :: decompressor, stream, values, error
            integer(c_int64_t), value :: bytes, room
            integer(c_int32_t), value :: type
            integer(c_int64_t), intent(out) :: elements
            type(c_ptr) :: ferrosz_salvage
        end function
        subroutine ferrosz_damages_free(damages) bind(c)
            import
            type(c_ptr), value :: damages
        end subroutine
        function ferrosz_damages_count(damages) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t) :: ferrosz_damages_count
        end function
        function ferrosz_damages_dimensions(damages) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t) :: ferrosz_damages_dimensions
        end function
        function ferrosz_damages_chunk(damages, number) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number
            integer(c_int64_t) :: ferrosz_damages_chunk
        end function
        function ferrosz_damages_cause(damages, number) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number
            type(c_ptr) :: ferrosz_damages_cause
        end function
        function ferrosz_damages_elements(damages, number) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number
            integer(c_int64_t) :: ferrosz_damages_elements
        end function
        function ferrosz_damages_boxes(damages, number) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number
            integer(c_int64_t) :: ferrosz_damages_boxes
        end function
        function ferrosz_damages_starts(damages, number, part) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number, part
            type(c_ptr) :: ferrosz_damages_starts
        end function
        function ferrosz_damages_lengths(damages, number, part) bind(c)
            import
            type(c_ptr), value :: damages
            integer(c_int64_t), value :: number, part
            type(c_ptr) :: ferrosz_damages_lengths
        end function
        subroutine ferrosz_boxes_free(boxes) bind(c)
            import
            type(c_ptr), value :: boxes
        end subroutine
        function ferrosz_boxes_count(boxes) bind(c)
            import
            type(c_ptr), value :: boxes
            integer(c_int64_t) :: ferrosz_boxes_count
        end function
        function ferrosz_boxes_starts(boxes, number) bind(c)
            import
            type(c_ptr), value :: boxes
            integer(c_int64_t), value :: number
            type(c_ptr) :: ferrosz_boxes_starts
        end function
        function ferrosz_boxes_lengths(boxes, number) bind(c)
            import
            type(c_ptr), value :: boxes
            integer(c_int64_t), value :: number
            type(c_ptr) :: ferrosz_boxes_lengths
        end function
        function ferrosz_matches_new(decompressor, stream, bytes, low, high, error) bind(c)
            import
            type(c_ptr), value :: decompressor, stream, error
            integer(c_int64_t), value :: bytes
            real(c_double), value :: low, high
            type(c_ptr) :: ferrosz_matches_new
        end function
        function ferrosz_matches_of_file(decompressor, path, low, high, error) bind(c)
            import
            type(c_ptr), value :: decompressor, error
            character(kind=c_char), intent(in) :: path(*)
            real(c_double), value :: low, high
            type(c_ptr) :: ferrosz_matches_of_file
        end function
        subroutine ferrosz_matches_free(matches) bind(c)
            import
            type(c_ptr), value :: matches
        end subroutine
        function ferrosz_matches_count(matches) bind(c)
            import
            type(c_ptr), value :: matches
            integer(c_int64_t) :: ferrosz_matches_count
        end function
        function ferrosz_matches_elements(matches) bind(c)
            import
            type(c_ptr), value :: matches
            type(c_ptr) :: ferrosz_matches_elements
        end function
        function ferrosz_matches_values(matches) bind(c)
            import
            type(c_ptr), value :: matches
            type(c_ptr) :: ferrosz_matches_values
        end function
        function ferrosz_matches_have_statistics(matches) bind(c)
            import
            type(c_ptr), value :: matches
            logical(c_bool) :: ferrosz_matches_have_statistics
        end function
        function ferrosz_matches_chunks(matches) bind(c)
            import
            type(c_ptr), value :: matches
            integer(c_int64_t) :: ferrosz_matches_chunks
        end function
        function ferrosz_matches_chunks_read(matches) bind(c)
            import
            type(c_ptr), value :: matches
            integer(c_int64_t) :: ferrosz_matches_chunks_read
        end function
        function ferrosz_matches_bytes_read(matches) bind(c)
            import
            type(c_ptr), value :: matches
            integer(c_int64_t) :: ferrosz_matches_bytes_read
        end function
        function ferrosz_statistics_new(stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: stream, error
            integer(c_int64_t), value :: bytes
            type(c_ptr) :: ferrosz_statistics_new
        end function
        function ferrosz_statistics_of_file(path, error) bind(c)
            import
            character(kind=c_char), intent(in) :: path(*)
            type(c_ptr), value :: error
            type(c_ptr) :: ferrosz_statistics_of_file
        end function
        subroutine ferrosz_statistics_free(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
        end subroutine
        function ferrosz_statistics_exist(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            logical(c_bool) :: ferrosz_statistics_exist
        end function
        function ferrosz_statistics_are_outdated(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            logical(c_bool) :: ferrosz_statistics_are_outdated
        end function
        function ferrosz_statistics_min(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            real(c_double) :: ferrosz_statistics_min
        end function
        function ferrosz_statistics_max(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            real(c_double) :: ferrosz_statistics_max
        end function
        function ferrosz_statistics_mean(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            real(c_double) :: ferrosz_statistics_mean
        end function
        function ferrosz_statistics_count(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t) :: ferrosz_statistics_count
        end function
        function ferrosz_statistics_bytes(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t) :: ferrosz_statistics_bytes
        end function
        function ferrosz_statistics_groups(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t) :: ferrosz_statistics_groups
        end function
        function ferrosz_statistics_group_chunks(statistics) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t) :: ferrosz_statistics_group_chunks
        end function
        function ferrosz_statistics_group_min(statistics, number) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t), value :: number
            real(c_double) :: ferrosz_statistics_group_min
        end function
        function ferrosz_statistics_group_max(statistics, number) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t), value :: number
            real(c_double) :: ferrosz_statistics_group_max
        end function
        function ferrosz_statistics_group_mean(statistics, number) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t), value :: number
            real(c_double) :: ferrosz_statistics_group_mean
        end function
        function ferrosz_statistics_group_count(statistics, number) bind(c)
            import
            type(c_ptr), value :: statistics
            integer(c_int64_t), value :: number
            integer(c_int64_t) :: ferrosz_statistics_group_count
        end function
        function ferrosz_statistics_group_boxes(statistics, number, error) bind(c)
            import
            type(c_ptr), value :: statistics, error
            integer(c_int64_t), value :: number
            type(c_ptr) :: ferrosz_statistics_group_boxes
        end function
        function ferrosz_search_new(compressor, target, value, type, field, elements, error) bind(c)
            import
            type(c_ptr), value :: compressor, field, error
            character(kind=c_char), intent(in) :: target(*)
            real(c_double), value :: value
            integer(c_int32_t), value :: type
            integer(c_int64_t), value :: elements
            type(c_ptr) :: ferrosz_search_new
        end function
        subroutine ferrosz_search_free(search) bind(c)
            import
            type(c_ptr), value :: search
        end subroutine
        function ferrosz_search_compressor(search, error) bind(c)
            import
            type(c_ptr), value :: search, error
            type(c_ptr) :: ferrosz_search_compressor
        end function
        function ferrosz_search_stream(search) bind(c)
            import
            type(c_ptr), value :: search
            type(c_ptr) :: ferrosz_search_stream
        end function
        function ferrosz_search_stream_bytes(search) bind(c)
            import
            type(c_ptr), value :: search
            integer(c_int64_t) :: ferrosz_search_stream_bytes
        end function
        function ferrosz_search_bound(search) bind(c)
            import
            type(c_ptr), value :: search
            real(c_double) :: ferrosz_search_bound
        end function
        function ferrosz_search_psnr(search) bind(c)
            import
            type(c_ptr), value :: search
            real(c_double) :: ferrosz_search_psnr
        end function
        function ferrosz_search_rmse(search) bind(c)
            import
            type(c_ptr), value :: search
            real(c_double) :: ferrosz_search_rmse
        end function
        function ferrosz_search_mae(search) bind(c)
            import
            type(c_ptr), value :: search
            real(c_double) :: ferrosz_search_mae
        end function
        function ferrosz_search_ratio(search) bind(c)
            import
            type(c_ptr), value :: search
            real(c_double) :: ferrosz_search_ratio
        end function
        function ferrosz_update_new(stream, bytes, dimensions, starts, lengths, type, values, elements, error) bind(c)
            import
            type(c_ptr), value :: stream, values, error
            integer(c_int64_t), value :: bytes, dimensions, elements
            integer(c_int64_t), intent(in) :: starts(*), lengths(*)
            integer(c_int32_t), value :: type
            type(c_ptr) :: ferrosz_update_new
        end function
        subroutine ferrosz_update_free(update) bind(c)
            import
            type(c_ptr), value :: update
        end subroutine
        function ferrosz_update_apply(update, stream, bytes, error) bind(c)
            import
            type(c_ptr), value :: update, stream, error
            integer(c_int64_t), value :: bytes
            type(c_ptr) :: ferrosz_update_apply
        end function
        function ferrosz_update_append_at(update) bind(c)
            import
            type(c_ptr), value :: update
            integer(c_int64_t) :: ferrosz_update_append_at
        end function
        function ferrosz_update_appended(update) bind(c)
            import
            type(c_ptr), value :: update
            type(c_ptr) :: ferrosz_update_appended
        end function
        function ferrosz_update_appended_bytes(update) bind(c)
            import
            type(c_ptr), value :: update
            integer(c_int64_t) :: ferrosz_update_appended_bytes
        end function
        function ferrosz_update_header(update) bind(c)
            import
            type(c_ptr), value :: update
            type(c_ptr) :: ferrosz_update_header
        end function
        function ferrosz_update_header_bytes(update) bind(c)
            import
            type(c_ptr), value :: update
            integer(c_int64_t) :: ferrosz_update_header_bytes
        end function
        function ferrosz_update_chunks(update) bind(c)
            import
            type(c_ptr), value :: update
            integer(c_int64_t) :: ferrosz_update_chunks
        end function
        function ferrosz_version() bind(c)
            import
            type(c_ptr) :: ferrosz_version
        end function
    end interface

contains

    !> The text at the address that ferrosz_error_text, ferrosz_info_codec and the like return.
    function ferrosz_text(address) result(text)
        type(c_ptr), intent(in) :: address
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: length
        interface
            function strlen(text) bind(c)
                import
                type(c_ptr), value :: text
                integer(c_size_t) :: strlen
            end function
        end interface

        length = int(strlen(address))
        call c_f_pointer(address, bytes, [length])
        allocate(character(len=length) :: text)
        text = transfer(bytes, text)
    end function
end module
