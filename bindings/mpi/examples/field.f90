! As field.c, in Fortran, with slabs along the last dimension.
!
!     mpifort $(pkg-config --variable=includedir ferrosz)/ferrosz.f90 ranks.f90 field.f90 $(pkg-config --libs ferrosz) -o field
program field_of_ranks
    use ranks
    implicit none

    ! An array of 100 x 80 x 60 in Fortran is one of 60 x 80 x 100 in C.
    integer(c_int64_t), parameter :: depth = 60, rows = 80, columns = 100
    real(c_float), allocatable, target :: field(:, :, :), decoded(:, :, :)
    integer(c_int8_t), allocatable, target :: stream(:)
    integer(c_int64_t) :: starts(3), lengths(3), bytes, elements, x, y, z
    type(ranks_of_file), target :: own
    type(ferrosz_group), target :: group
    type(c_ptr) :: error, compressor
    character(len=256) :: path
    integer :: rank, unit, failed

    call MPI_Init()
    own%comm = MPI_COMM_WORLD
    call MPI_Comm_rank(own%comm, rank)
    call MPI_Comm_size(own%comm, own%size)
    call get_command_argument(1, path)

    ! 1. The slab of this rank, and its values.
    starts = [depth * rank / own%size, 0_c_int64_t, 0_c_int64_t]
    lengths = [depth * (rank + 1) / own%size - starts(1), rows, columns]
    allocate(field(columns, rows, lengths(1)), decoded(columns, rows, lengths(1)))
    do z = 1, lengths(1)
        do y = 1, rows
            do x = 1, columns
                field(x, y, z) = 0.25 * real(mod((starts(1) + z - 1) * (y - 1) + x - 1, 1000_c_int64_t))
            end do
        end do
    end do

    ! 2. All ranks write the file.
    call MPI_File_open(own%comm, trim(path), MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, own%file, failed)
    if (failed /= 0) call fail('the file cannot be opened')
    call MPI_File_set_size(own%file, 0_MPI_OFFSET_KIND)
    group = group_of(own)
    error = ferrosz_error_new()
    compressor = ferrosz_compressor_new("interp" // c_null_char, FERROSZ_RANGE, 1e-3_c_double, error)
    if (.not. c_associated(compressor)) call fail(ferrosz_text(ferrosz_error_text(error)))
    if (ferrosz_compressor_set_extents(compressor, 3_c_int64_t, [depth, rows, columns], error) /= FERROSZ_OK) &
        call fail(ferrosz_text(ferrosz_error_text(error)))
    if (ferrosz_compress_part(compressor, c_loc(group), 3_c_int64_t, starts, lengths, FERROSZ_F32, c_loc(field), &
            size(field, kind=c_int64_t), bytes, error) /= FERROSZ_OK) call fail(ferrosz_text(ferrosz_error_text(error)))
    call MPI_File_close(own%file)

    ! 3. Each reads its slab. The bound is a thousandth of the range of the whole field.
    allocate(stream(bytes))
    open(newunit=unit, file=trim(path), access='stream', form='unformatted', action='read')
    read(unit) stream
    close(unit)
    if (ferrosz_decompress_box(c_null_ptr, c_loc(stream), bytes, 3_c_int64_t, starts, lengths, FERROSZ_F32, &
            c_loc(decoded), size(field, kind=c_int64_t), elements, error) /= FERROSZ_OK) &
        call fail(ferrosz_text(ferrosz_error_text(error)))
    if (any(abs(field - decoded) > 1e-3 * 249.75)) call fail('the bound is not kept')
    if (rank == 0) print '(i0, a, i0)', 4 * depth * rows * columns, ' bytes became ', bytes

    call ferrosz_compressor_free(compressor)
    call ferrosz_error_free(error)
    call MPI_Finalize()

contains

    subroutine fail(what)
        character(len=*), intent(in) :: what

        print '(a)', 'field: ' // what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program
