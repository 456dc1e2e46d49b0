/* A disk that takes its time: every fdatasync sleeps SLOW_SYNC_US microseconds when it is done.

   cc -O2 -shared -fPIC -o slow_sync.so benchmarks/slow_sync.c
   SLOW_SYNC_US=2000 LD_PRELOAD=./slow_sync.so python benchmarks/ours_index.py FOLDER combined 100000 --single 4

   Syncs that overlap take no longer than one, as on a disk at the other end of a network. With SLOW_SYNC_ALONE=1 each
   waits for the one before it, as on a disk that empties its cache. What is measured beside it, how long a sync takes,
   is slowed down alike. (Delays by strace stop every call of every thread, which an index that wakes threads pays for.) */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

int fdatasync(int file) {
    int (*really)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    const char *asked = getenv("SLOW_SYNC_US");
    long microseconds = asked ? atol(asked) : 0;
    int waits = getenv("SLOW_SYNC_ALONE") != NULL;
    if (waits) pthread_mutex_lock(&alone);
    int done = really(file);
    struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&pause, NULL);
    if (waits) pthread_mutex_unlock(&alone);
    return done;
}
