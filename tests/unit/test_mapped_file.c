/* Which file a mapping of a process is, whatever has become of its path. */
#include "process/mapped_file.h"

#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/attach.h"
#include "process/library_table.h"
#include "process/proc_maps.h"
#include "support/directory.h"
#include "support/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- mappings of our own process, as the kernel describes them ---- */

struct wanted {
    uint64_t start;
    struct perf_mapping found;
    char path[512];
};

static int take_wanted(void *context, const struct perf_mapping *mapping)
{
    struct wanted *wanted = context;
    if (mapping->start != wanted->start)
        return 0;
    wanted->found = *mapping;
    snprintf(wanted->path, sizeof(wanted->path), "%s", mapping->path);
    wanted->found.path = wanted->path;
    return 1;
}

/* Maps the file with execute permission. */
static void map_file(struct wanted *wanted, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(page, MAP_FAILED);
    *wanted = (struct wanted){.start = (uint64_t)(uintptr_t)page};
    assert_int_equal(proc_maps_read((uint32_t)getpid(), take_wanted, wanted), 1);
}

static void unmap(const struct wanted *wanted)
{
    munmap((void *)(uintptr_t)wanted->start, 4096);
}

static uint64_t inode_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(in_directory(name), &info), 0);
    return info.st_ino;
}

static bool finds(struct mapped_file *mapped, const struct wanted *wanted)
{
    return mapped_file_open(mapped, (uint32_t)getpid(), &wanted->found) == 0;
}

/* map_files is for those who may look into all processes. */
static bool can_reach_deleted_files(void)
{
    char link[64], path[8];
    struct wanted self;
    map_file(&self, "/proc/self/exe");
    snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx", (unsigned long long)self.start,
             (unsigned long long)self.start + 4096);
    bool can = readlink(link, path, sizeof(path)) > 0;
    unmap(&self);
    return can;
}

/* ---- tests ---- */

static int make_files(void **state)
{
    if (make_empty_directory(state) != 0)
        return -1;
    write_text("a.c", "int f(void) { return 1; }");
    run("gcc -shared -fPIC -Wl,--build-id=none -o plain.so a.c && gcc -shared -fPIC -Wl,--build-id -o id.so a.c");
    return 0;
}

static void test_file_that_has_its_path_can_be_opened_again(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    map_file(&wanted, in_directory("plain.so"));
    assert_true(finds(&mapped, &wanted));
    assert_true(mapped.can_reopen);
    assert_non_null(mapped.module);
    assert_int_equal(mapped.file->identity.inode, inode_of("plain.so"));
    mapped_file_destroy(&mapped);
    unmap(&wanted);
}

/* A file that is older than the recording, at the very path of the mapping, is another file all the same. */
static void test_file_that_took_the_path_is_not_taken_for_the_mapped_one(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    run("cp -p plain.so there.so && cp -p plain.so other.so && touch -d 2001-01-01 other.so");
    uint64_t inode = inode_of("there.so");
    map_file(&wanted, in_directory("there.so"));
    run("mv other.so there.so");
    bool found = finds(&mapped, &wanted);
    assert_int_equal(found, can_reach_deleted_files());
    if (found) {
        assert_int_equal(mapped.file->identity.inode, inode);
        assert_false(mapped.can_reopen);
        mapped_file_destroy(&mapped);
    }
    unmap(&wanted);
    assert_false(finds(&mapped, &wanted)); /* now nothing leads to it; least of all the program, /proc/PID/exe */
}

static void test_deleted_file_is_not_taken_for_the_program(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    run("cp plain.so deleted.so");
    map_file(&wanted, in_directory("deleted.so"));
    run("rm deleted.so");
    unmap(&wanted);
    assert_false(finds(&mapped, &wanted));
}

static void test_build_id_decides_where_the_kernel_read_one(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    map_file(&wanted, in_directory("id.so"));
    assert_true(finds(&mapped, &wanted));
    wanted.found.has_build_id = true;
    wanted.found.build_id_size = mapped.build_id_size;
    memcpy(wanted.found.build_id, mapped.build_id, mapped.build_id_size);
    mapped_file_destroy(&mapped);
    run("cp id.so copy && mv copy id.so");
    assert_true(finds(&mapped, &wanted)); /* another inode, the same code */
    mapped_file_destroy(&mapped);
    wanted.found.build_id[0] ^= 1;
    assert_false(finds(&mapped, &wanted));
    unmap(&wanted);
}

static void test_inode_number_that_was_used_again_is_another_file(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    long generation = 0;
    map_file(&wanted, in_directory("plain.so"));
    int fd = open(in_directory("plain.so"), O_RDONLY | O_CLOEXEC);
    bool is_known = ioctl(fd, FS_IOC_GETVERSION, &generation) == 0;
    close(fd);
    if (!is_known) {
        unmap(&wanted);
        skip();
    }
    wanted.found.generation = (uint32_t)generation;
    assert_true(finds(&mapped, &wanted));
    mapped_file_destroy(&mapped);
    unmap(&wanted); /* so that map_files does not lead to it */
    wanted.found.generation ^= 1;
    assert_false(finds(&mapped, &wanted));
}

/* There the kernel's own numbers, in mapping records, are not those of stat(). */
static void test_file_on_overlayfs_is_found_and_another_is_not(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct mapped_file mapped;
    run("mkdir -p lower upper merged && cp plain.so lower/lib.so");
    if (mount("tmpfs", in_directory("upper"), "tmpfs", 0, NULL) != 0)
        skip();
    char options[1024];
    run("mkdir upper/u upper/w");
    snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper/u,workdir=%s/upper/w", directory, directory,
             directory);
    bool mounted = mount("overlay", in_directory("merged"), "overlay", 0, options) == 0;
    bool found = false, found_other = true;
    if (mounted) {
        map_file(&wanted, in_directory("merged/lib.so"));
        found = finds(&mapped, &wanted) && mapped.can_reopen;
        mapped_file_destroy(&mapped);
        unmap(&wanted);
        run("cp -p plain.so merged/other.so && mv merged/other.so merged/lib.so");
        found_other = finds(&mapped, &wanted);
        mapped_file_destroy(&mapped);
        umount(in_directory("merged"));
    }
    umount(in_directory("upper"));
    if (!mounted)
        skip();
    assert_true(found);
    assert_false(found_other);
}

/* ---- the table of libraries ---- */

static void test_file_that_could_not_be_opened_is_looked_for_again(void **unused)
{
    (void)unused;
    struct wanted wanted;
    struct library_mapping found;
    run("rm -f spool && cp plain.so late.so");
    struct spool_writer *spool;
    assert_int_equal(spool_writer_new(&spool, in_directory("spool"), NULL), 0);
    struct library_table *table = library_table_new(spool);
    map_file(&wanted, in_directory("late.so"));
    unmap(&wanted);
    run("mv late.so elsewhere.so");
    assert_int_equal(library_table_find(table, (uint32_t)getpid(), &wanted.found, &found, NULL), 0);
    assert_null(found.module);
    uint32_t first = found.lib;
    run("mv elsewhere.so late.so");
    assert_int_equal(library_table_find(table, (uint32_t)getpid(), &wanted.found, &found, NULL), 0);
    assert_non_null(found.module);
    assert_int_not_equal(found.lib, first); /* what was mapped before has no addresses that fit the file */
    library_table_free(table);
    spool_writer_close(spool, NULL);
}

static void test_vdso_of_a_32_bit_process_is_not_ours(void **unused)
{
    (void)unused;
    struct perf_mapping vdso = {
        .start = UINT64_C(0x7fff12340000), .length = 0x2000, .executable = true, .path = "[vdso]"};
    struct library_mapping found;
    run("rm -f spool");
    struct spool_writer *spool;
    assert_int_equal(spool_writer_new(&spool, in_directory("spool"), NULL), 0);
    struct library_table *table = library_table_new(spool);
    assert_int_equal(library_table_find(table, (uint32_t)getpid(), &vdso, &found, NULL), 0);
    uint32_t ours = found.lib;
    assert_int_not_equal(ours, SPOOL_NO_NUMBER);
    vdso.start = 0xf7fc0000;
    assert_int_equal(library_table_find(table, (uint32_t)getpid(), &vdso, &found, NULL), 0);
    assert_int_not_equal(found.lib, ours);
    library_table_free(table);
    spool_writer_close(spool, NULL);
}

/* Maps a file of memfd_create() with these bytes, and asks the table for it. */
static struct library_mapping find_in_memory(struct library_table *table, const void *bytes, size_t size)
{
    struct wanted wanted;
    struct library_mapping found;
    char path[64];
    int fd = memory_file(bytes, size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    map_file(&wanted, path);
    assert_string_equal(wanted.found.path, "/memfd:bytes");
    assert_int_equal(library_table_find(table, (uint32_t)getpid(), &wanted.found, &found, NULL), 0);
    unmap(&wanted);
    close(fd);
    return found;
}

static void test_file_in_memory_is_a_library_if_it_is_an_elf_file(void **unused)
{
    (void)unused;
    struct spool_writer *spool;
    static char bytes[65536];
    assert_int_equal(spool_writer_new(&spool, in_directory("memory.spool"), NULL), 0);
    struct library_table *table = library_table_new(spool);
    assert_non_null(table);
    FILE *file = fopen(in_directory("plain.so"), "re");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_int_equal(find_in_memory(table, "\xc3 code of a JIT compiler", 24).lib, SPOOL_NO_NUMBER);
    struct library_mapping found = find_in_memory(table, bytes, size);
    assert_int_equal(found.lib, 0);
    assert_non_null(found.module);
    library_table_free(table);
    assert_int_equal(spool_writer_close(spool, NULL), 0);
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static char state_of(pid_t pid)
{
    char path[64], text[1024];
    struct proc_stat stat = {0};
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return file_read_text(path, text, sizeof(text)) && proc_stat_parse(text, &stat) ? stat.state : '\0';
}

/* What /proc/PID shows of its process is empty then. */
static void test_process_without_its_main_thread_is_read_through_another(void **unused)
{
    (void)unused;
    struct wanted wanted;
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        pthread_create(&thread, NULL, sleep_on, NULL);
        pthread_exit(NULL);
    }
    while (state_of(child) != 'Z')
        usleep(1000);
    assert_int_equal(proc_find_living_thread((uint32_t)getpid()), getpid());
    assert_int_not_equal(proc_find_living_thread((uint32_t)child), child);
    assert_true(attach_identify_program(child) != 0);
    assert_int_equal(attach_identify_program(child), attach_identify_program(getpid()));
    assert_true(attach_has_command(child));
    wanted = (struct wanted){.start = (uint64_t)(uintptr_t)proc_maps_find_own_vdso(&(size_t){0})};
    assert_int_equal(proc_maps_read((uint32_t)child, take_wanted, &wanted), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_that_has_its_path_can_be_opened_again),
        cmocka_unit_test(test_file_that_took_the_path_is_not_taken_for_the_mapped_one),
        cmocka_unit_test(test_deleted_file_is_not_taken_for_the_program),
        cmocka_unit_test(test_build_id_decides_where_the_kernel_read_one),
        cmocka_unit_test(test_inode_number_that_was_used_again_is_another_file),
        cmocka_unit_test(test_file_on_overlayfs_is_found_and_another_is_not),
        cmocka_unit_test(test_file_in_memory_is_a_library_if_it_is_an_elf_file),
        cmocka_unit_test(test_process_without_its_main_thread_is_read_through_another),
        cmocka_unit_test(test_vdso_of_a_32_bit_process_is_not_ours),
        cmocka_unit_test(test_file_that_could_not_be_opened_is_looked_for_again),
    };
    return cmocka_run_group_tests(tests, make_files, remove_directory);
}
