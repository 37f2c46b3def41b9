/* A process that is never the same one for long: it forks, the child takes a session of its own,
   the parent ends, and so on. It ignores every signal that can be ignored, holds no pipe, and stops
   by itself after a while, when it leaves the file `outlived`. Arguments: seconds, microseconds between
   two forks, chains. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    time_t end = now() + atoi(arguments[1]);
    int pause = atoi(arguments[2]);
    int null = open("/dev/null", O_RDWR);
    for (int stream = 0; stream < 3; stream++) dup2(null, stream);
    for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
    for (int chain = 1; chain < atoi(arguments[3]); chain++)
        if (fork() == 0) break;
    while (now() < end) {
        pid_t child = fork();
        if (child > 0) _exit(0);
        if (child == 0) {
            setsid();
            if (pause) usleep(pause);
        } else {
            usleep(1000);
        }
    }
    open("outlived", O_CREAT | O_WRONLY, 0600);
    return 0;
}
