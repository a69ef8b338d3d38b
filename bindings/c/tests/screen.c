#include <eitri.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *statements =
        "[{\"unit\": {\"name\": \"scale.cl\", \"language\": \"OpenCL\"}},"
        " {\"base_type\": {\"unit\": \"scale.cl\", \"name\": \"int\", \"encoding\": \"signed\", \"bits\": 32}},"
        " {\"function\": {\"in\": \"scale.cl\", \"name\": \"scale\", \"kernel\": true,"
        "   \"code\": {\"symbol\": \"scale\", \"bytes\": 40}}},"
        " {\"parameter\": {\"in\": \"scale\", \"name\": \"n\", \"type\": \"int\", \"live\": ["
        "   [0, 12, {\"register\": \"s4\"}], [12, 40, {\"lane\": [\"v40\", 7]}]]}}]";
    eitri_description *description = NULL;
    eitri_module *module = NULL;
    eitri_buffer *object = NULL;
    eitri_check_counts counts;
    eitri_error *error = NULL;

    if (eitri_description_new("amdgpu-gfx1030-wave32", &description, &error)
        || eitri_description_add(description, statements, strlen(statements), &error)
        || eitri_description_finish(description, &module, &error)
        || eitri_emit(module, NULL, &object, &error)
        || eitri_check(module, (const char *)eitri_buffer_data(object), eitri_buffer_size(object), NULL, NULL, NULL,
                       &counts, &error)) {
        fprintf(stderr, "%s\n", eitri_error_message(error));
        eitri_error_free(error);
        return 1;
    }
    printf("%d findings\n", (int)counts.findings);
    eitri_buffer_free(object);
    eitri_module_free(module);
    eitri_description_free(description);
    return 0;
}
