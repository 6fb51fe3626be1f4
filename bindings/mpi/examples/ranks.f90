! The ranks of MPI as a group of ferrosz: a file to copy into your program. field.f90 uses it.
module ranks
    use ferrosz
    use mpi_f08
    implicit none

    ! The group: a communicator, and the file that its ranks write.
    type :: ranks_of_file
        type(MPI_Comm) :: comm
        type(MPI_File) :: file
        integer :: size
    end type

contains

    !> The communicator and the file of a context.
    function of_context(context) result(own)
        type(c_ptr), intent(in) :: context
        type(ranks_of_file), pointer :: own

        call c_f_pointer(context, own)
    end function

    !> A type of so many bytes, as counts of MPI are 32-bit integers.
    function bytes_type(bytes) result(type)
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int64_t), parameter :: block = 2_c_int64_t**30
        type(MPI_Datatype) :: blocks, type

        call MPI_Type_contiguous(int(block), MPI_BYTE, blocks)
        call MPI_Type_create_struct(2, [int(bytes / block), int(mod(bytes, block))], &
            [0_MPI_ADDRESS_KIND, int(bytes / block * block, MPI_ADDRESS_KIND)], [blocks, MPI_BYTE], type)
        call MPI_Type_commit(type)
        call MPI_Type_free(blocks)
    end function

    function largest(context, numbers, count) bind(c) result(failed)
        type(c_ptr), value :: context
        integer(c_int64_t), value :: count
        integer(c_int64_t), intent(inout) :: numbers(count)
        integer(c_int32_t) :: failed
        integer(c_int64_t) :: all(count), flipped(count)

        ! The numbers are unsigned. With the highest bit flipped, the order of signed ones is theirs.
        flipped = ieor(numbers, ishft(1_c_int64_t, 63))
        associate (own => of_context(context))
            call MPI_Allreduce(flipped, all, int(count), MPI_INTEGER8, MPI_MAX, own%comm, failed)
        end associate
        numbers = ieor(all, ishft(1_c_int64_t, 63))
    end function

    function total(context, numbers, count) bind(c) result(failed)
        type(c_ptr), value :: context
        integer(c_int64_t), value :: count
        integer(c_int64_t), intent(inout) :: numbers(count)
        integer(c_int32_t) :: failed
        integer(c_int64_t) :: all(count)

        associate (own => of_context(context))
            call MPI_Allreduce(numbers, all, int(count), MPI_INTEGER8, MPI_SUM, own%comm, failed)
        end associate
        numbers = all
    end function

    function total_before(context, number, before) bind(c) result(failed)
        type(c_ptr), value :: context
        integer(c_int64_t), value :: number
        integer(c_int64_t), intent(out) :: before
        integer(c_int32_t) :: failed
        integer(c_int64_t) :: with_own

        associate (own => of_context(context))
            call MPI_Scan(number, with_own, 1, MPI_INTEGER8, MPI_SUM, own%comm, failed)
        end associate
        before = with_own - number
    end function

    function exchange(context, count, messages, inbox) bind(c) result(failed)
        type(c_ptr), value :: context, inbox
        integer(c_int64_t), value :: count
        type(ferrosz_message), intent(in) :: messages(count)
        integer(c_int32_t) :: failed
        type(ranks_of_file), pointer :: own
        integer(c_int64_t), allocatable :: sent(:), coming(:)
        type(MPI_Request), allocatable :: requests(:)
        type(MPI_Datatype) :: type
        integer(c_int8_t), pointer, asynchronous :: bytes(:)
        integer :: i, rank, pending

        own => of_context(context)
        allocate(sent(0:own%size - 1), coming(0:own%size - 1), requests(own%size + int(count)))
        sent = 0
        do i = 1, int(count)
            sent(messages(i)%rank) = messages(i)%bytes
        end do
        call MPI_Alltoall(sent, 1, MPI_INTEGER8, coming, 1, MPI_INTEGER8, own%comm)
        pending = 0
        do rank = 0, own%size - 1
            if (coming(rank) == 0) cycle
            call c_f_pointer(ferrosz_inbox_add(inbox, int(rank, c_int64_t), coming(rank)), bytes, [coming(rank)])
            pending = pending + 1
            type = bytes_type(coming(rank))
            call MPI_Irecv(bytes, 1, type, rank, 0, own%comm, requests(pending))
            call MPI_Type_free(type)
        end do
        do i = 1, int(count)
            call c_f_pointer(messages(i)%data, bytes, [messages(i)%bytes])
            pending = pending + 1
            type = bytes_type(messages(i)%bytes)
            call MPI_Isend(bytes, 1, type, int(messages(i)%rank), 0, own%comm, requests(pending))
            call MPI_Type_free(type)
        end do
        call MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE, failed)
    end function

    function write_pieces(context, count, pieces) bind(c) result(failed)
        type(c_ptr), value :: context
        integer(c_int64_t), value :: count
        type(ferrosz_piece), intent(in) :: pieces(count)
        integer(c_int32_t) :: failed
        type(ranks_of_file), pointer :: own
        type(MPI_Datatype) :: type
        integer(c_int8_t), pointer :: bytes(:)
        integer :: i

        own => of_context(context)
        failed = 0
        do i = 1, int(count)
            call c_f_pointer(pieces(i)%data, bytes, [pieces(i)%bytes])
            type = bytes_type(pieces(i)%bytes)
            call MPI_File_write_at(own%file, int(pieces(i)%start, MPI_OFFSET_KIND), bytes, 1, type, &
                MPI_STATUS_IGNORE, failed)
            call MPI_Type_free(type)
            if (failed /= 0) return
        end do
    end function

    function wait_for_all(context) bind(c) result(failed)
        type(c_ptr), value :: context
        integer(c_int32_t) :: failed
        type(ranks_of_file), pointer :: own

        own => of_context(context)
        call MPI_File_sync(own%file, failed)
        call MPI_Barrier(own%comm)
    end function

    !> The group of a rank. `own` has the communicator, its size, and the file, which all ranks have opened.
    function group_of(own) result(group)
        type(ranks_of_file), intent(in), target :: own
        type(ferrosz_group) :: group
        integer :: rank

        call MPI_Comm_rank(own%comm, rank)
        group = ferrosz_group(c_loc(own), rank, own%size, c_funloc(largest), c_funloc(total), c_funloc(total_before), &
            c_funloc(exchange), c_funloc(write_pieces), c_funloc(wait_for_all))
    end function
end module
