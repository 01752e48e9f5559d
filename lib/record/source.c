#include "record/source.h"

int source_watch(int epoll_fd, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    return 0;
}
