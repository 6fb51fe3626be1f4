! As field.c, in Fortran. ferrosz.f90 is installed beside ferrosz.h, and compiled with the program, as each compiler has
! modules of its own.
!
!     gfortran $(pkg-config --variable=includedir ferrosz)/ferrosz.f90 field.f90 $(pkg-config --libs ferrosz) -o field
program field_example
    use ferrosz
    implicit none

    ! An array of 100 x 60 in Fortran is one of 60 x 100 in C.
    integer(c_int64_t), parameter :: rows = 60, columns = 100
    integer(c_int64_t) :: extents(2) = [rows, columns]
    real(c_float), target :: field(columns, rows), decoded(columns, rows)
    type(c_ptr) :: error, compressor, stream
    integer(c_int64_t) :: bytes, elements, row, column
    real(c_double) :: largest
    character(len=256) :: path
    integer(c_int8_t), pointer :: contents(:)
    integer :: unit

    do row = 1, rows
        do column = 1, columns
            field(column, row) = 0.25 * real(mod((row - 1) * (column - 1), 1000_c_int64_t))
        end do
    end do

    error = ferrosz_error_new()
    compressor = ferrosz_compressor_new("small" // c_null_char, FERROSZ_ABS, 0.1_c_double, error)
    if (.not. c_associated(compressor)) call fail()
    if (ferrosz_compressor_set_extents(compressor, 2_c_int64_t, extents, error) /= FERROSZ_OK) call fail()
    stream = ferrosz_compress_to_buffer(compressor, FERROSZ_F32, c_loc(field), rows * columns, error)
    if (.not. c_associated(stream)) call fail()
    bytes = ferrosz_buffer_bytes(stream)

    if (ferrosz_decompress(c_null_ptr, ferrosz_buffer_data(stream), bytes, FERROSZ_F32, &
            c_loc(decoded), rows * columns, elements, error) /= FERROSZ_OK) call fail()
    largest = maxval(abs(real(field, c_double) - real(decoded, c_double)))
    print '(i0, a, i0, a, es10.3)', 4 * elements, ' bytes became ', bytes, ', largest error ', largest

    call get_command_argument(1, path)
    if (path /= '') then
        call c_f_pointer(ferrosz_buffer_data(stream), contents, [bytes])
        open(newunit=unit, file=trim(path), access='stream', form='unformatted', status='replace')
        write(unit) contents
        close(unit)
    end if

    call ferrosz_buffer_free(stream)
    call ferrosz_compressor_free(compressor)
    call ferrosz_error_free(error)
    if (largest > 0.1_c_double) error stop 'the bound is not kept'

contains

    subroutine fail()
        print '(a)', 'ferrosz: ' // ferrosz_text(ferrosz_error_text(error))
        error stop 1
    end subroutine
end program
