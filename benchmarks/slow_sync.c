/* A disk that takes its time: every fdatasync sleeps SLOW_SYNC_US microseconds when it is done.

   cc -O2 -shared -fPIC -o slow_sync.so benchmarks/slow_sync.c
   SLOW_SYNC_US=2000 LD_PRELOAD=./slow_sync.so python benchmarks/ours_index.py FOLDER combined 100000 --single 4

   What is measured beside it, how long a sync takes, is slowed down alike. (Delays by strace stop every call of every
   thread, which an index that wakes threads pays for.) */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int fdatasync(int file) {
    int (*really)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    const char *asked = getenv("SLOW_SYNC_US");
    long microseconds = asked ? atol(asked) : 0;
    int done = really(file);
    struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&pause, NULL);
    return done;
}
