#include "profile/tooltip_row.h"

void tooltip_row_open(struct json_writer *json, const struct tooltip_row *row)
{
    json_open(json, '{');
    json_member_text(json, "type", "value");
    json_member_text(json, "source", row->source);
    json_member_open(json, "format", '{');
    json_member_text(json, "unit", row->unit);
    if (row->scale)
        json_member_text(json, "scale", row->scale);
    json_close(json, '}');
}
