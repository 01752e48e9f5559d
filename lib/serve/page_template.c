#include "serve/page_template.h"

#include "export/html_page.h"
#include "file/gunzip.h"

int asset_unpack(const struct serve_asset *asset, struct text_buffer *out, struct error *err)
{
    unsigned char block[16384];
    struct gunzip *gunzip = gunzip_new();
    if (!gunzip)
        return error_no_memory(err);
    gunzip_feed(gunzip, asset->gzip, asset->gzip_size);
    size_t size = 0;
    int code;
    do {
        code = gunzip_read(gunzip, block, sizeof(block), &size, err);
        if (!code && !text_append(out, (const char *)block, size))
            code = error_no_memory(err);
    } while (!code && size);
    if (!code)
        code = gunzip_end_input(gunzip, err);
    gunzip_free(gunzip);
    return code;
}

int append_page_template(const struct serve_asset *assets, size_t count, struct text_buffer *out, struct error *err)
{
    const struct serve_asset *shell = NULL;
    struct text_buffer text = {0};
    struct html_file *files = malloc((count + 1) * sizeof(*files));
    if (!files)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        files[i] = (struct html_file){assets[i].path, assets[i].gzip, assets[i].gzip_size};
        if (strcmp(assets[i].path, PAGE_SHELL) == 0)
            shell = &assets[i];
    }
    const struct byte_sink sink = text_sink(out);
    int code = shell ? asset_unpack(shell, &text, err)
                     : error_set(err, ENOENT, "this prof was built without the page as a file: build it again");
    if (!code)
        code = html_write_template(text.data, text.length, files, count, &sink, err);
    array_free(&text);
    free(files);
    return code;
}
