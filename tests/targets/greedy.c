/*
 * A program that wants as much of a recorder as it can get, through one interface, for some seconds.
 *
 *     greedy KIND SECONDS [ARGUMENT]
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t end;

static void fail(const char *what)
{
    perror(what);
    exit(9);
}

/* ---- unwind information: one function with 900 KB of remember_state, restore_state ---- */

#ifdef __x86_64__
void greedy_spin(void);

__asm__(".text\n"
        ".globl greedy_spin\n"
        ".type greedy_spin, @function\n"
        "greedy_spin:\n"
        "1:  inc %rax\n"
        "    jmp 1b\n"
        "greedy_spin_end:\n"
        ".size greedy_spin, . - greedy_spin\n"
        ".section .eh_frame, \"a\", @progbits\n"
        "greedy_cie: .long greedy_cie_end - greedy_cie_start\n"
        "greedy_cie_start: .long 0\n"
        ".byte 1\n"
        ".asciz \"zRS\"\n"
        ".uleb128 1\n"
        ".sleb128 -8\n"
        ".byte 16\n"
        ".uleb128 1\n"
        ".byte 0x1b, 0x0c, 7, 8, 0x90, 1\n"
        ".balign 4\n"
        "greedy_cie_end:\n"
        "greedy_fde: .long greedy_fde_end - greedy_fde_start\n"
        "greedy_fde_start: .long greedy_fde_start - greedy_cie\n"
        ".long greedy_spin - .\n"
        ".long greedy_spin_end - greedy_spin\n"
        ".uleb128 0\n"
        ".fill 450000, 2, 0x0b0a\n"
        ".balign 4\n"
        "greedy_fde_end:\n"
        ".text\n");
#else
static void greedy_spin(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}
#endif

static void cfi(void)
{
    alarm((unsigned)((end - now()) / 1000000000u));
    greedy_spin();
}

/* ---- an ELF file without .eh_frame_hdr, whose .eh_frame has two million functions ---- */

enum { LOOP_AT = 4096, FRAMES_AT = 8192, FUNCTIONS = 2000000, FDE = 24 };

static void put(FILE *file, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, file) != size)
        fail("write");
}

static void write_index_file(const char *path)
{
    static const unsigned char loop[] = {0x48, 0xff, 0xc0, 0xeb, 0xfb}; /* inc %rax; jmp */
    static const char names[] = "\0.eh_frame\0.shstrtab";
    const uint32_t cie[] = {20, 0, 0x00527a01, 0x01107801, 0x08070c03, 0x00000190};
    const uint64_t frames_size = sizeof(cie) + (uint64_t)FUNCTIONS * FDE, names_at = FRAMES_AT + frames_size;
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                               .e_type = ET_DYN,
                               .e_machine = EM_X86_64,
                               .e_version = EV_CURRENT,
                               .e_phoff = sizeof(header),
                               .e_shoff = names_at + 64,
                               .e_ehsize = sizeof(header),
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 1,
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = 3,
                               .e_shstrndx = 2};
    const Elf64_Phdr segment = {
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = names_at, .p_memsz = names_at, .p_align = 4096};
    const Elf64_Shdr sections[3] = {{.sh_name = 0},
                                    {.sh_name = 1,
                                     .sh_type = SHT_PROGBITS,
                                     .sh_flags = SHF_ALLOC,
                                     .sh_addr = FRAMES_AT,
                                     .sh_offset = FRAMES_AT,
                                     .sh_size = frames_size},
                                    {.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = 64}};
    FILE *file = fopen(path, "w");
    if (!file)
        fail(path);
    put(file, &header, sizeof(header));
    put(file, &segment, sizeof(segment));
    fseek(file, LOOP_AT, SEEK_SET);
    put(file, loop, sizeof(loop));
    fseek(file, FRAMES_AT, SEEK_SET);
    put(file, cie, sizeof(cie));
    for (uint32_t i = FUNCTIONS; i-- > 0;) { /* from the last function to the first */
        const uint32_t at = (uint32_t)sizeof(cie) + (FUNCTIONS - 1 - i) * FDE;
        const uint32_t fde[FDE / 4] = {FDE - 4, at + 4, LOOP_AT + i, 1, 0, 0};
        put(file, fde, sizeof(fde));
    }
    char text[64] = "";
    memcpy(text, names, sizeof(names));
    put(file, text, sizeof(text));
    put(file, sections, sizeof(sections));
    fclose(file);
}

static void run_index_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, LOOP_AT);
    if (code == MAP_FAILED)
        fail(path);
    alarm((unsigned)((end - now()) / 1000000000u));
    ((void (*)(void))(uintptr_t)code)();
}

/* ---- mappings, from high addresses to low ones: in the same place again and again, or each in a place of its own ----
 */

static void map_pages(char *room, size_t count)
{
    enum { PAGE = 4096 };
    for (size_t i = count; i-- > 0 && now() < end;)
        if (mmap(room + 2 * i * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
            MAP_FAILED)
            fail("mmap");
}

static void maps(bool is_new_place)
{
    enum { COUNT = 30000, PAGE = 4096 };
    const size_t size = (size_t)2 * COUNT * PAGE;
    char *place = NULL;
    while (now() < end) {
        char *room = mmap(place, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
            fail("mmap");
        map_pages(room, COUNT);
        munmap(room, size);
        place = is_new_place ? room - size : NULL;
    }
}

/* ---- names ---- */

static void names(void)
{
    char name[16];
    for (unsigned i = 0; now() < end; i++) {
        snprintf(name, sizeof(name), "name %u", i);
        prctl(PR_SET_NAME, name);
    }
}

/* ---- marks: a buffer full of holes, of a process that ends ---- */

static void holes(void)
{
    const uint64_t room = 2 << 20, page = 4096;
    char path[64];
    snprintf(path, sizeof(path), "/dev/shm/prof-marks-%d.0", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)(page + room)))
        fail(path);
    uint64_t *head = mmap(NULL, page + room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *words = head + page / 8;
    uint64_t time = now();
    for (uint64_t at = 1; at + 4 < room / 8; at += 5) {
        words[at] = at | UINT64_C(2) << 32 | UINT64_C(4) << 40;
        words[at + 1] = time;
        words[at + 2] = 0x1000;
        words[at + 3] = (uint64_t)getpid();
    }
    head[1] = (uint64_t)getpid();
    head[3] = head[8] = room;
    head[0] = UINT64_C(0x316b72616d666f70);
    usleep(300000); /* the recorder finds it */
    unlink(path);
}

static void marks(void)
{
    while (now() < end) {
        pid_t child = fork();
        if (child == 0) {
            holes();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

/* ---- processes and threads ---- */

static void *nothing(void *argument)
{
    return argument;
}

static void threads(void)
{
    while (now() < end) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static void forks(void)
{
    while (now() < end) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

/* Programs with command lines of 1 MB. */
static void execs(const char *self)
{
    enum { WORDS = 10, LENGTH = 100000 };
    char *words[WORDS + 4] = {(char *)(uintptr_t)self, "nothing", "0"};
    for (size_t i = 0; i < WORDS; i++) {
        words[3 + i] = malloc(LENGTH + 1);
        memset(words[3 + i], 'w', LENGTH);
        words[3 + i][LENGTH] = '\0';
    }
    while (now() < end) {
        pid_t child = fork();
        if (child == 0) {
            execv("/proc/self/exe", words);
            _exit(9);
        }
        waitpid(child, NULL, 0);
    }
}

/* ---- jitdump: records without end ---- */

static void jitdump(void)
{
    char path[64];
    snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const uint32_t header[10] = {0x4a695444, 1, 40, 62};
    if (fd < 0 || write(fd, header, sizeof(header)) != sizeof(header) ||
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        fail(path);
    static unsigned char records[1 << 16];
    for (size_t at = 0; at + 16 <= sizeof(records); at += 16) {
        const uint32_t record[4] = {9, 16, 1, 0}; /* of no kind that is known */
        memcpy(records + at, record, sizeof(record));
    }
    for (size_t size = 0; now() < end; size += sizeof(records)) {
        if (size >= 256 << 20)
            size = 0, lseek(fd, 40, SEEK_SET);
        if (write(fd, records, sizeof(records)) < 0)
            fail("write");
    }
    unlink(path);
}

/* ---- compiled code ---- */

static void run_loop(void)
{
    static const unsigned char loop[] = {0x48, 0xff, 0xc0, 0xeb, 0xfb}; /* inc %rax; jmp */
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, loop, sizeof(loop));
    alarm((unsigned)((end - now()) / 1000000000u));
    ((void (*)(void))(uintptr_t)code)();
}

/* Its perf map has many lines behind a hole. */
static void perf_map(void)
{
    enum { LINES = 1000000 };
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *file = fopen(path, "w");
    if (!file || fseeko(file, (off_t)1 << 40, SEEK_SET))
        fail(path);
    for (int i = 0; i < LINES; i++) /* none of them has the loop */
        fprintf(file, "\n%x 1 %x", i, i);
    if (fclose(file))
        fail(path);
    pid_t child = fork(); /* removes the file behind a process that is killed */
    if (child == 0) {
        pid_t parent = getppid();
        while (getppid() == parent && now() < end)
            usleep(10000);
        sleep(20); /* the profile is saved meanwhile */
        unlink(path);
        _exit(0);
    }
    run_loop();
}

/* ---- files: many are open, and code of ever new ones is mapped for a moment ---- */

static void files(void)
{
    enum { OPEN = 20000, PAGE = 4096 };
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < OPEN + 100 ? limit.rlim_max : OPEN + 100;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t i = 10; i < limit.rlim_cur - 10 && open("/dev/null", O_RDONLY) >= 0; i++)
        ;
    while (now() < end) {
        int fd = memfd_create("code", 0);
        if (fd < 0 || ftruncate(fd, PAGE))
            fail("memfd");
        void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        munmap(code, PAGE);
        close(fd);
    }
}

/* ---- an environment of 5 MB, most of it the variable GREEDY ---- */

static void environment(void)
{
    enum { VARIABLES = 45, LENGTH = 110000 };
    char seconds[32], *words[] = {"greedy", "busy", seconds, NULL}, *variables[VARIABLES + 1] = {0};
    snprintf(seconds, sizeof(seconds), "%u", (unsigned)((end - now()) / 1000000000u));
    for (int i = 0; i < VARIABLES; i++) {
        variables[i] = malloc(LENGTH);
        memset(variables[i], '\x1b', LENGTH - 1);
        memcpy(variables[i], "GREEDY=", 7);
        variables[i][LENGTH - 1] = '\0';
    }
    setrlimit(RLIMIT_STACK, &(struct rlimit){64 << 20, RLIM_INFINITY}); /* a quarter may be arguments, at most 6 MB */
    execve("/proc/self/exe", words, variables);
    fail("execve");
}

/* ---- a file system that does not answer ---- */

static void answer(int fd, uint64_t unique, const void *body, size_t size)
{
    char bytes[sizeof(struct fuse_out_header) + 256];
    struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + size), .unique = unique};
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), body, size);
    if (write(fd, bytes, header.len) < 0)
        fail("answer");
}

/* Mounts a FUSE file system at `place`, in a mount namespace of its own. Returns the descriptor that serves it. */
static int mount_fuse(const char *place)
{
    char options[100];
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        fail("mount namespace");
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
    if (fd < 0 || mount("silent", place, "fuse", MS_NOSUID | MS_NODEV, options))
        fail("fuse");
    return fd;
}

/* A FUSE file system at `place` answers the first question and no other. A child runs code that it has compiled: perf
 * maps are in /tmp. */
static void silent(const char *place)
{
    static char request[1 << 17];
    int fd = mount_fuse(place);
    pid_t child = fork();
    if (child == 0)
        run_loop();
    if (read(fd, request, sizeof(request)) > 0) {
        const struct fuse_in_header *header = (const void *)request;
        const struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 65536};
        answer(fd, header->unique, &init, sizeof(init));
    }
    waitpid(child, NULL, 0);
    sleep(10); /* the profile is saved meanwhile */
}

/* ---- memory that nobody fills: the command line, and the stack above the page of the stack pointer ---- */

enum { PAGE_SIZE = 4096 };

static char *command_line;
static int silent_file = -1, userfault; /* no file: memory of userfaultfd() */

/* Serves one file, which can be opened, but not read. */
static void serve_file(int fd)
{
    static char request[1 << 17];
    while (read(fd, request, sizeof(request)) > 0) {
        const struct fuse_in_header *header = (const void *)request;
        const struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 65536};
        const struct fuse_attr file = {.ino = 2, .size = 1 << 20, .mode = S_IFREG | 0777, .nlink = 1};
        const struct fuse_attr directory = {.ino = 1, .mode = S_IFDIR | 0777, .nlink = 2};
        const struct fuse_entry_out entry = {.nodeid = 2, .entry_valid = 100, .attr_valid = 100, .attr = file};
        const struct fuse_attr_out attributes = {.attr_valid = 100, .attr = header->nodeid == 2 ? file : directory};
        const struct fuse_open_out open = {.fh = 1};
        if (header->opcode == FUSE_INIT)
            answer(fd, header->unique, &init, sizeof(init));
        else if (header->opcode == FUSE_LOOKUP)
            answer(fd, header->unique, &entry, sizeof(entry));
        else if (header->opcode == FUSE_GETATTR)
            answer(fd, header->unique, &attributes, sizeof(attributes));
        else if (header->opcode == FUSE_OPEN)
            answer(fd, header->unique, &open, sizeof(open));
    }
}

static void map_silent(char *place, size_t size)
{
    int flags = MAP_PRIVATE | MAP_FIXED | (silent_file < 0 ? MAP_ANONYMOUS : 0);
    if (mmap(place, size, PROT_READ | PROT_WRITE, flags, silent_file, 0) == MAP_FAILED)
        fail("mmap");
    if (silent_file >= 0)
        return;
    struct uffdio_register range = {.range = {.start = (uintptr_t)place, .len = size},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(userfault, UFFDIO_REGISTER, &range))
        fail("userfaultfd");
}

static void *spin_on_silent_stack(void *argument)
{
    static const unsigned char loop[] = {0x48, 0x89, 0xfc, 0x48, 0x89, 0xf5, /* mov %rdi, %rsp; mov %rsi, %rbp */
                                         0x48, 0xff, 0xc0, 0xeb, 0xfb};      /* inc %rax; jmp */
    const size_t pages = 32;
    char *stack = mmap(NULL, pages * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *code = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || code == MAP_FAILED)
        fail("mmap");
    memcpy(code, loop, sizeof(loop));
    memset(stack, 0, PAGE_SIZE);
    map_silent(stack + PAGE_SIZE, (pages - 1) * PAGE_SIZE);
    map_silent((char *)((uintptr_t)command_line & ~(uintptr_t)(PAGE_SIZE - 1)), PAGE_SIZE);
    if (write(STDOUT_FILENO, "ready\n", 6) == 6)
        ((void (*)(char *, char *))(uintptr_t)code)(stack + PAGE_SIZE - 256, stack + PAGE_SIZE);
    return argument;
}

/* The main thread must not use its stack any more: the command line shares a page with it. */
static void silent_memory(char *argument, const char *place)
{
    pthread_t thread;
    command_line = argument;
    alarm((unsigned)((end - now()) / 1000000000u));
    if (place) {
        int fd = mount_fuse(place);
        pid_t child = fork();
        if (child) {
            serve_file(fd);
            exit(0);
        }
        close(fd);
        char path[200];
        snprintf(path, sizeof(path), "%s/file", place);
        silent_file = open(path, O_RDWR);
        if (silent_file < 0)
            fail(path);
    } else {
        struct uffdio_api api = {.api = UFFD_API};
        userfault = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
        if (userfault < 0 || ioctl(userfault, UFFDIO_API, &api))
            fail("userfaultfd");
    }
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        fail("setresuid");
    if (place)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* setresuid() would clear it */
    if (pthread_create(&thread, NULL, spin_on_silent_stack, NULL))
        fail("thread");
    pause();
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    end = now() + (argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000000u : 0);
    if (!strcmp(kind, "index"))
        write_index_file("index.so");
    if (!strcmp(kind, "userfault") || !strcmp(kind, "memory"))
        silent_memory(argv[0], argc > 3 && argv[3][0] ? argv[3] : NULL);
    puts("ready");
    fflush(stdout);
    if (!strcmp(kind, "cfi"))
        cfi();
    else if (!strcmp(kind, "index"))
        run_index_file("index.so");
    else if (!strcmp(kind, "busy"))
        while (now() < end)
            ;
    else if (!strcmp(kind, "maps"))
        maps(false);
    else if (!strcmp(kind, "places"))
        maps(true);
    else if (!strcmp(kind, "names"))
        names();
    else if (!strcmp(kind, "marks"))
        marks();
    else if (!strcmp(kind, "threads"))
        threads();
    else if (!strcmp(kind, "forks"))
        forks();
    else if (!strcmp(kind, "execs"))
        execs(argv[0]);
    else if (!strcmp(kind, "jitdump"))
        jitdump();
    else if (!strcmp(kind, "perf-map"))
        perf_map();
    else if (!strcmp(kind, "files"))
        files();
    else if (!strcmp(kind, "environment"))
        environment();
    else if (!strcmp(kind, "silent"))
        silent(argc > 3 ? argv[3] : "/tmp");
    else if (strcmp(kind, "nothing") != 0)
        return 2;
    return 0;
}
