// The ranks of MPI as a group of ferrosz: a file to copy into your program. field.c uses it.

#include <ferrosz.h>
#include <mpi.h>

#include <stdlib.h>

// The group: a communicator, and the file that its ranks write.
typedef struct {
    MPI_Comm comm;
    MPI_File file;
    int size;
} ranks;

// A type of so many bytes, as counts of MPI are ints.
static MPI_Datatype bytes_type(uint64_t bytes) {
    const uint64_t block = 1 << 30;
    MPI_Datatype blocks, type;
    MPI_Type_contiguous((int)block, MPI_BYTE, &blocks);
    MPI_Type_create_struct(2, (int[]){(int)(bytes / block), (int)(bytes % block)},
                           (MPI_Aint[]){0, (MPI_Aint)(bytes / block * block)}, (MPI_Datatype[]){blocks, MPI_BYTE}, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&blocks);
    return type;
}

// Open MPI 4.1.4 compares unsigned numbers as signed ones. With the highest bit flipped, the order of signed ones is theirs.
static void flip(uint64_t *numbers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        numbers[i] ^= UINT64_C(1) << 63;
    }
}

static int32_t max(void *context, uint64_t *numbers, uint64_t count) {
    flip(numbers, count);
    int failed = MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_INT64_T, MPI_MAX, ((ranks *)context)->comm);
    flip(numbers, count);
    return failed;
}

static int32_t sum(void *context, uint64_t *numbers, uint64_t count) {
    return MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_UINT64_T, MPI_SUM, ((ranks *)context)->comm);
}

static int32_t sum_before(void *context, uint64_t number, uint64_t *before) {
    uint64_t with_own;
    int failed = MPI_Scan(&number, &with_own, 1, MPI_UINT64_T, MPI_SUM, ((ranks *)context)->comm);
    *before = with_own - number;
    return failed;
}

static int32_t exchange(void *context, uint64_t count, const ferrosz_message *messages, ferrosz_inbox *inbox) {
    const ranks *own = context;
    uint64_t *sent = calloc(2 * own->size, sizeof *sent), *coming = sent + own->size;
    MPI_Request *requests = malloc((own->size + count) * sizeof *requests);
    int pending = 0;
    for (uint64_t i = 0; i < count; i++) {
        sent[messages[i].rank] = messages[i].bytes;
    }
    MPI_Alltoall(sent, 1, MPI_UINT64_T, coming, 1, MPI_UINT64_T, own->comm);
    for (int rank = 0; rank < own->size; rank++) {
        if (coming[rank] > 0) {
            MPI_Datatype type = bytes_type(coming[rank]);
            void *room = ferrosz_inbox_add(inbox, rank, coming[rank]);
            if (!room) {
                MPI_Abort(own->comm, 1); // There is no memory.
            }
            MPI_Irecv(room, 1, type, rank, 0, own->comm, &requests[pending++]);
            MPI_Type_free(&type);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        MPI_Datatype type = bytes_type(messages[i].bytes);
        MPI_Isend(messages[i].data, 1, type, (int)messages[i].rank, 0, own->comm, &requests[pending++]);
        MPI_Type_free(&type);
    }
    int failed = MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(sent);
    return failed;
}

static int32_t write_pieces(void *context, uint64_t count, const ferrosz_piece *pieces) {
    int failed = 0;
    for (uint64_t i = 0; i < count && !failed; i++) {
        MPI_Datatype type = bytes_type(pieces[i].bytes);
        failed = MPI_File_write_at(((ranks *)context)->file, (MPI_Offset)pieces[i].start, pieces[i].data, 1, type,
                                   MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
    return failed;
}

static int32_t barrier(void *context) {
    const ranks *own = context;
    int failed = MPI_File_sync(own->file);
    MPI_Barrier(own->comm);
    return failed;
}

// The group of a rank. `own` has the communicator, its size, and the file, which all ranks have opened.
static ferrosz_group group_of(ranks *own) {
    int rank;
    MPI_Comm_rank(own->comm, &rank);
    return (ferrosz_group){own, (uint64_t)rank, (uint64_t)own->size, max, sum, sum_before, exchange, write_pieces, barrier};
}
