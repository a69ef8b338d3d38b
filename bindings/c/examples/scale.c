/* Describes a kernel in which a scalar is spilled to a lane of a vector register, statement by statement; adds the debug
 * information to an object with the code, and compares it with the description.
 *
 * scale CODE.o OUT.o */
#include <eitri.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const statements[] = {
    "{\"unit\": {\"name\": \"scale.cl\", \"language\": \"OpenCL\"}}",
    "{\"base_type\": {\"unit\": \"scale.cl\", \"name\": \"int\", \"encoding\": \"signed\", \"bits\": 32}}",
    "{\"base_type\": {\"unit\": \"scale.cl\", \"name\": \"float\", \"encoding\": \"float\", \"bits\": 32}}",
    "{\"function\": {\"in\": \"scale.cl\", \"name\": \"scale\", \"kernel\": true,"
    " \"code\": {\"symbol\": \"scale\", \"bytes\": 40}}}",
    "{\"parameter\": {\"in\": \"scale\", \"name\": \"n\", \"type\": \"int\", \"live\": ["
    " [0, 12, {\"register\": \"s4\"}], [12, 40, {\"lane\": [\"v40\", 7]}]]}}",
    "{\"variable\": {\"in\": \"scale\", \"name\": \"x\", \"type\": \"float\", \"live\": ["
    " [4, 40, {\"per_lane\": \"v3\"}]]}}",
};

/* Prints an error, frees it, and ends the program. */
static void fail(eitri_error *error)
{
    fprintf(stderr, "scale: %s (%s)\n", eitri_error_message(error), eitri_error_kind(error));
    eitri_error_free(error);
    exit(1);
}

static int print_finding(void *context, const eitri_finding *finding)
{
    (void)context;
    printf("%s: %s\n", finding->code, finding->message);
    return 0;
}

static char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    char *data = NULL;
    long end;
    if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)
        || !(data = malloc((size_t)end + 1)) || fread(data, 1, (size_t)end, file) != (size_t)end) {
        perror(name);
        exit(1);
    }
    fclose(file);
    *size = (size_t)end;
    return data;
}

int main(int count, char **arguments)
{
    eitri_error *error = NULL;
    eitri_description *description = NULL;
    eitri_module *module = NULL;
    eitri_buffer *object = NULL;
    eitri_check_counts counts;
    size_t size, i;
    char *code;
    FILE *out;

    if (count != 3) {
        fprintf(stderr, "usage: scale CODE.o OUT.o\n");
        return 1;
    }
    if (eitri_description_new("amdgpu-gfx1030-wave32", &description, &error))
        fail(error);
    for (i = 0; i < sizeof statements / sizeof *statements; i++)
        if (eitri_description_add(description, statements[i], strlen(statements[i]), &error))
            fail(error);
    if (eitri_description_finish(description, &module, &error))
        fail(error);

    code = read_file(arguments[1], &size);
    if (eitri_attach(module, code, size, NULL, &object, &error))
        fail(error);
    if (eitri_check(module, (const char *)eitri_buffer_data(object), eitri_buffer_size(object), NULL, print_finding,
                    NULL, &counts, &error))
        fail(error);
    printf("%llu findings, %llu locations compared\n", (unsigned long long)counts.findings,
           (unsigned long long)counts.locations);

    out = fopen(arguments[2], "wb");
    if (!out || fwrite(eitri_buffer_data(object), 1, eitri_buffer_size(object), out) != eitri_buffer_size(object)
        || fclose(out)) {
        perror(arguments[2]);
        return 1;
    }
    free(code);
    eitri_buffer_free(object);
    eitri_module_free(module);
    eitri_description_free(description);
    return counts.findings != 0;
}
