// Checks of the tests in C, which go on after a failure. They count checks and failures.
#ifndef CHECK_H
#define CHECK_H

#include <ferrosz.h>

#include <stdio.h>
#include <string.h>

static int checks, failures;

#define CHECK(condition)                                                           \
    do {                                                                           \
        checks++;                                                                  \
        if (!(condition)) {                                                        \
            failures++;                                                            \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);      \
        }                                                                          \
    } while (0)

// The call has this status, and its text has these words.
#define CHECK_FAILS(call, expected, words)                                                                \
    do {                                                                                                  \
        checks++;                                                                                         \
        ferrosz_status status = (call);                                                                   \
        if (status != (expected) || status != ferrosz_error_status(error) ||                              \
            !strstr(ferrosz_error_text(error), words)) {                                                  \
            failures++;                                                                                   \
            fprintf(stderr, "line %d: %s\n  status %d, text '%s'\n", __LINE__, #call, status,             \
                    ferrosz_error_text(error));                                                           \
        }                                                                                                 \
    } while (0)

// As CHECK_FAILS, for a call that returns an object.
#define CHECK_NULL(call, expected, words) \
    CHECK_FAILS((call) == NULL ? ferrosz_error_status(error) : FERROSZ_OK, expected, words)

#endif
