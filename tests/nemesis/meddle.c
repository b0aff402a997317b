// Stands between a member and the C library: the clock on its wall is off, and its disk takes longer, by as much as a file
// says that meddle.rs writes. The file is mapped, so that an order holds at once and what was done is counted for the suite.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// In the order in which meddle.rs knows them.
struct orders {
    int64_t clock_off_ms;
    int64_t flush_takes_ms;
    int64_t clocks_read;
    int64_t flushes;
};

static struct orders nothing;
static struct orders *orders = &nothing;
static int (*tell_time)(clockid_t, struct timespec *);
static int (*flush_all)(int);
static int (*flush_data)(int);

__attribute__((constructor)) static void begin(void) {
    tell_time = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    flush_all = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    flush_data = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    const char *path = getenv("WAYMARK_NEMESIS_ORDERS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED)
        orders = mapped;
    close(file);
}

static int64_t ordered(int64_t *order, int64_t *count) {
    int64_t ms = __atomic_load_n(order, __ATOMIC_SEQ_CST);
    if (ms != 0)
        __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    return ms;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    // Somebody may ask before `begin`.
    if ((tell_time ? tell_time(clock, now) : (int)syscall(SYS_clock_gettime, clock, now)) != 0)
        return -1;
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return 0;
    int64_t off_ms = ordered(&orders->clock_off_ms, &orders->clocks_read);
    int64_t nanos = now->tv_nsec + off_ms % 1000 * 1000000;
    now->tv_sec += off_ms / 1000 + (nanos >= 1000000000) - (nanos < 0);
    now->tv_nsec = (nanos + 1000000000) % 1000000000;
    return 0;
}

static void take_long(void) {
    int64_t ms = ordered(&orders->flush_takes_ms, &orders->flushes);
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

int fsync(int file) {
    take_long();
    return flush_all(file);
}

int fdatasync(int file) {
    take_long();
    return flush_data(file);
}
