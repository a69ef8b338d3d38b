/* The variable in docs/c.md, described and compared with the object. */
#include <eitri.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char statements[] =
        "[{\"unit\": {\"name\": \"scale.cl\", \"language\": \"OpenCL\"}},"
        " {\"base_type\": {\"unit\": \"scale.cl\", \"name\": \"int\", \"encoding\": \"signed\", \"bits\": 32}},"
        " {\"function\": {\"in\": \"scale.cl\", \"name\": \"scale\", \"kernel\": true,"
        "   \"code\": {\"symbol\": \"scale\", \"bytes\": 40}}}]";
    eitri_description *description = NULL;
    eitri_module *module = NULL;
    eitri_buffer *json = NULL;
    eitri_error *error = NULL;

    eitri_description_new("amdgpu-gfx1030-wave32", &description, &error);
    eitri_description_add(description, statements, strlen(statements), &error);
    uint64_t s4, v40;
    eitri_description_register(description, "s4", &s4, &error);
    eitri_description_register(description, "v40", &v40, &error);
    const eitri_node before[] = {{EITRI_NODE_REGISTER, s4, 0}}, after[] = {{EITRI_NODE_LANE, v40, 7}};
    const eitri_live live[] = {{0, 12, before, 1}, {12, 40, after, 1}};
    eitri_variable n = {.size = sizeof n, .scope = "scale", .name = "n", .type = "int", .is_parameter = 1};
    n.live = live;
    n.live_count = 2;
    eitri_description_variable(description, &n, &error);
    eitri_description_finish(description, &module, &error);
    eitri_module_to_json(module, &json, &error);
    if (error) {
        fprintf(stderr, "%s\n", eitri_error_message(error));
        return 1;
    }
    fwrite(eitri_buffer_data(json), 1, eitri_buffer_size(json), stdout);
    eitri_buffer_free(json);
    eitri_module_free(module);
    eitri_description_free(description);
    return 0;
}
