#include "sample/btf.h"

#include "os/file_io.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kernel_types[] = "/sys/kernel/btf/vmlinux";

/* ---- opening ---- */

bool btf_open_bytes(struct btf *btf, const void *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    uint16_t magic = cursor_u16(&c);
    cursor_u16(&c); /* version, flags */
    uint32_t header_size = cursor_u32(&c), types = cursor_u32(&c), types_size = cursor_u32(&c);
    uint32_t strings = cursor_u32(&c), strings_size = cursor_u32(&c);
    *btf = (struct btf){.bytes = bytes, .size = size};
    if (c.failed || magic != BTF_MAGIC || header_size > size || size - header_size < (uint64_t)types + types_size ||
        size - header_size < (uint64_t)strings + strings_size || !strings_size)
        return false;
    btf->types = cursor_of(btf->bytes + header_size + types, types_size);
    btf->strings = cursor_of(btf->bytes + header_size + strings, strings_size);
    return btf->strings.at && btf->strings.end[-1] == 0;
}

/* Maps the file, which needs Linux 6.16, or reads the file, which takes some milliseconds longer. */
static int load(struct btf *btf, int fd)
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size <= 0)
        return -EINVAL;
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    bool is_mapped = bytes != MAP_FAILED;
    if (!is_mapped)
        bytes = malloc(size);
    if (!bytes)
        return -ENOMEM;
    bool is_complete = is_mapped || file_read(fd, bytes, size) == (ssize_t)size;
    bool is_valid = is_complete && btf_open_bytes(btf, bytes, size);
    *btf = (struct btf){bytes, size, is_mapped, btf->types, btf->strings};
    if (is_valid)
        return 0;
    btf_close(btf);
    return -EINVAL;
}

int btf_open_kernel(struct btf *btf)
{
    int fd = open(kernel_types, O_RDONLY | O_CLOEXEC);
    *btf = (struct btf){0};
    if (fd < 0)
        return -errno;
    int code = load(btf, fd);
    close(fd);
    return code;
}

void btf_close(struct btf *btf)
{
    if (btf->is_mapped)
        munmap((void *)btf->bytes, btf->size);
    else
        free((void *)btf->bytes);
    *btf = (struct btf){0};
}

/* ---- types ---- */

/* Returns the size of what follows the 12 bytes that all types have. */
static size_t get_contents_size(const struct btf_type_info *type)
{
    switch (type->kind) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
        return 4;
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return type->count * sizeof(struct btf_member);
    case BTF_KIND_DATASEC:
    case BTF_KIND_ENUM64:
        return type->count * sizeof(struct btf_var_secinfo);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
        return type->count * sizeof(struct btf_param);
    default:
        return 0;
    }
}

static bool read_type(struct cursor *c, struct btf_type_info *type)
{
    type->id++;
    type->name = cursor_u32(c);
    uint32_t info = cursor_u32(c);
    type->type = cursor_u32(c);
    type->kind = BTF_INFO_KIND(info);
    type->count = BTF_INFO_VLEN(info);
    type->has_bits = BTF_INFO_KFLAG(info);
    size_t size = get_contents_size(type);
    type->contents = cursor_of(cursor_bytes(c, size), size);
    return !c->failed;
}

static bool has_name(const struct btf *btf, uint32_t offset, const char *name)
{
    return offset < cursor_left(&btf->strings) && strcmp((const char *)btf->strings.at + offset, name) == 0;
}

bool btf_find(const struct btf *btf, uint32_t kind, const char *name, struct btf_type_info *type)
{
    struct cursor c = btf->types;
    *type = (struct btf_type_info){0};
    while (cursor_left(&c) && read_type(&c, type))
        if (type->kind == kind && has_name(btf, type->name, name))
            return true;
    return false;
}

static bool find_by_id(const struct btf *btf, uint32_t id, struct btf_type_info *type)
{
    struct cursor c = btf->types;
    *type = (struct btf_type_info){0};
    while (cursor_left(&c) && read_type(&c, type))
        if (type->id == id)
            return true;
    return false;
}

bool btf_find_member(const struct btf *btf, const char *structure, const char *member, size_t *offset, uint32_t *kind)
{
    struct btf_type_info type, of_member;
    if (!btf_find(btf, BTF_KIND_STRUCT, structure, &type))
        return false;
    for (uint32_t i = 0; i < type.count; i++) {
        uint32_t name = cursor_u32(&type.contents), id = cursor_u32(&type.contents), bits = cursor_u32(&type.contents);
        if (!has_name(btf, name, member))
            continue;
        bool is_bit_field = type.has_bits && BTF_MEMBER_BITFIELD_SIZE(bits);
        *offset = (type.has_bits ? BTF_MEMBER_BIT_OFFSET(bits) : bits) / 8;
        if (is_bit_field || !find_by_id(btf, id, &of_member))
            return false;
        *kind = of_member.kind;
        return true;
    }
    return false;
}
