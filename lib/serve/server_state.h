/*
 * The state of a server, which serve.c, requests.c and served_profile.c share.
 */
#pragma once

#include "serve/answer.h"
#include "serve/live_events.h"
#include "serve/newcomers.h"
#include "serve/own_address.h"
#include "serve/post.h"
#include "serve/serve_options.h"

#include <pthread.h>

struct server {
    struct MHD_Daemon *daemon;
    struct serve_options options;
    struct served_profile profile;
    struct post_worker *worker;
    struct live live;
    int first_fd; /* descriptor of the first profile, after has_changed */
    bool has_changed;
    pthread_mutex_t profile_lock; /* protects `profile`, which changes during a recording */
    int directory;                /* -1: the assets are served */
    struct own_address own;
    struct newcomers newcomers;
};
