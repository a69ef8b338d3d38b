/* What a caller can do wrong is an error with a message, and nothing is written to the results. */
#include <eitri.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("not so: %s\n", what);
        failures++;
    }
}

/* Expects a result, and a message that contains a text. */
static void expect_error(eitri_result result, eitri_result expected, eitri_error **error, const char *text)
{
    const char *message = eitri_error_message(*error);
    if (result != expected || !message || !strstr(message, text)) {
        printf("not so: result %d for %d, \"%s\" contains \"%s\"\n", (int)result, (int)expected,
               message ? message : "(null)", text);
        failures++;
    }
    eitri_error_free(*error);
    *error = NULL;
}

static int fail_at_once(void *context, const char *message)
{
    (void)message;
    ++*(int *)context;
    return 42;
}

static eitri_result add(eitri_description *description, const char *statements, eitri_error **error)
{
    return eitri_description_add(description, statements, strlen(statements), error);
}

static int fail_write(void *context, const char *data, size_t size)
{
    (void)context, (void)data, (void)size;
    return 9;
}

/* Evaluates again, for ever. */
static int evaluate_again(void *context, uint64_t number, uint32_t frame, uint32_t offset, uint8_t *into, size_t size)
{
    eitri_machine machine;
    eitri_buffer *buffer = NULL;
    eitri_error *error = NULL;
    eitri_result result;
    unsigned *depth = context;
    (void)number, (void)frame, (void)offset;
    memset(into, 0, size);
    memset(&machine, 0, sizeof machine);
    machine.size = sizeof machine;
    machine.context = context;
    machine.read_register = evaluate_again;
    ++*depth;
    result = eitri_evaluate((const uint8_t *)"\x90\x34", 2, "amdgpu-gfx1100-wave32", NULL, &machine, 32, &buffer, &error);
    if (result == EITRI_ARGUMENT)
        expect(strstr(eitri_error_message(error), "more than 32 nested calls") != NULL, "the depth is limited");
    eitri_error_free(error);
    eitri_buffer_free(buffer);
    return result == EITRI_OK ? 0 : 2;
}

/* Evaluates bytes, and compares the result's text. */
static void expect_result(const char *expression, size_t size, const char *target, const char *expected)
{
    eitri_machine machine;
    eitri_buffer *buffer = NULL;
    memset(&machine, 0, sizeof machine);
    machine.size = sizeof machine;
    expect(eitri_evaluate((const uint8_t *)expression, size, target, NULL, &machine, 0, &buffer, NULL) == EITRI_OK,
           "an evaluation");
    if (eitri_buffer_size(buffer) != strlen(expected)
        || memcmp(eitri_buffer_data(buffer), expected, strlen(expected))) {
        printf("not so: \"%.*s\" is \"%s\"\n", (int)eitri_buffer_size(buffer),
               (const char *)eitri_buffer_data(buffer), expected);
        failures++;
    }
    eitri_buffer_free(buffer);
}

static int fail_memory(void *context, uint64_t space, int64_t lane, uint64_t address, uint8_t *into, size_t size)
{
    (void)context, (void)space, (void)lane, (void)address, (void)into, (void)size;
    return 77;
}

/* Calls the library again, with the same module, and frees it in the end. */
static int reenter(void *context, const eitri_section *section)
{
    eitri_module *module = context;
    eitri_buffer *json = NULL;
    expect(section->name[0] == '.', "a section has a name");
    expect(eitri_module_to_json(module, &json, NULL) == EITRI_OK, "a callback may call the library");
    eitri_buffer_free(json);
    return 0;
}

static int free_module(void *context, const eitri_section *section)
{
    (void)section;
    eitri_module_free(context);
    return 0;
}

int main(void)
{
    static const char json[] =
        "{\"eitri\": 1, \"target\": \"amdgpu-gfx1030-wave32\", \"describe\": ["
        "{\"unit\": {\"name\": \"a\"}},"
        "{\"base_type\": {\"unit\": \"a\", \"name\": \"int\", \"encoding\": \"signed\", \"bits\": 32}},"
        "{\"function\": {\"in\": \"a\", \"name\": \"k\", \"code\": {\"symbol\": \"k\", \"bytes\": 64}, \"kernel\": true}},"
        "{\"variable\": {\"in\": \"k\", \"name\": \"n\", \"type\": \"int\","
        " \"live\": [[0, 64, {\"register\": \"s4\"}]]}}]}";
    static const char lane[] =
        "{\"eitri\": 1, \"target\": \"amdgpu-gfx1030-wave32\", \"describe\": ["
        "{\"unit\": {\"name\": \"a\"}},"
        "{\"base_type\": {\"unit\": \"a\", \"name\": \"int\", \"encoding\": \"signed\", \"bits\": 32}},"
        "{\"function\": {\"in\": \"a\", \"name\": \"k\", \"code\": {\"symbol\": \"k\", \"bytes\": 64}, \"kernel\": true}},"
        "{\"variable\": {\"in\": \"k\", \"name\": \"n\", \"type\": \"int\","
        " \"live\": [[0, 64, {\"per_lane\": \"v3\"}]]}}]}";
    static const char wrong[] =
        "{\"eitri\": 1, \"target\": \"amdgpu-gfx1030-wave32\", \"describe\": [\n{\"unit\": {\"nam\": \"a\"}}]}";
    eitri_error *error = NULL;
    eitri_module *module = NULL, *other = NULL;
    eitri_description *description = NULL;
    eitri_buffer *buffer = NULL;
    eitri_options options;
    eitri_machine machine;
    eitri_error_place place;
    eitri_check_counts counts;
    int calls = 0;

    /* NULL: everywhere an argument error, or nothing. */
    eitri_error_free(NULL);
    eitri_buffer_free(NULL);
    eitri_module_free(NULL);
    eitri_description_free(NULL);
    expect(!eitri_error_message(NULL) && !eitri_error_kind(NULL), "no error has no message");
    expect(!eitri_error_where(NULL, &place), "no error has no place");
    expect(!eitri_buffer_data(NULL) && !eitri_buffer_size(NULL), "no buffer has no bytes");
    expect_error(eitri_description_new(NULL, &description, &error), EITRI_ARGUMENT, &error, "`target` is NULL");
    expect_error(eitri_description_new("amdgpu-gfx1030-wave32", NULL, &error), EITRI_ARGUMENT, &error,
                 "`description` is NULL");
    expect_error(eitri_description_add(NULL, "{}", 2, &error), EITRI_ARGUMENT, &error, "`description` is NULL");
    expect_error(eitri_module_from_json(NULL, 5, &module, &error), EITRI_ARGUMENT, &error, "`json` is NULL");
    expect_error(eitri_module_from_json(json, sizeof json - 1, NULL, &error), EITRI_ARGUMENT, &error,
                 "`module` is NULL");
    expect_error(eitri_emit(NULL, NULL, &buffer, &error), EITRI_ARGUMENT, &error, "`module` is NULL");
    expect_error(eitri_lint(NULL, 5, NULL, NULL, NULL, &error), EITRI_ARGUMENT, &error, "`object` is NULL");
    expect(eitri_emit(NULL, NULL, NULL, NULL) == EITRI_ARGUMENT, "the error is not wanted");
    expect(!module && !buffer && !description, "results are written only on success");

    /* Descriptions that are wrong. */
    expect_error(eitri_description_new("amdgpu-gfx9999", &description, &error), EITRI_ERROR, &error, "amdgpu-gfx9999");
    expect(eitri_module_from_json(wrong, sizeof wrong - 1, &module, &error) == EITRI_ERROR, "an unknown key");
    expect(eitri_error_where(error, &place) && place.has_json && place.json_line == 2 && place.json_path,
           "the error has its line");
    eitri_error_free(error);
    expect_error(eitri_module_from_json("", 0, &module, &error), EITRI_ERROR, &error, "");
    expect_error(eitri_module_from_json("\xff\xfe", 2, &module, &error), EITRI_ERROR, &error, "");
    expect_error(eitri_module_from_json(json, (size_t)-1 / 2 + 2, &module, &error), EITRI_ARGUMENT, &error, "size");
    expect(eitri_description_new("amdgpu-gfx1030-wave32", &description, &error) == EITRI_OK, "a description");
    expect(error == NULL, "success has no error");
    expect_error(add(description, "{\"unit\"", &error), EITRI_ERROR, &error, "not JSON");
    expect_error(add(description, "{}], \"x\": [", &error), EITRI_ERROR, &error, "not JSON");
    expect_error(add(description, "7", &error), EITRI_ARGUMENT, &error, "neither");
    expect(add(description, " [] ", &error) == EITRI_OK, "no statements");
    expect(add(description, "[{\"unit\": {\"name\": \"a\"}}]", &error) == EITRI_OK, "a list");
    expect(add(description, "{\"unit\": {\"nam\": \"b\"}}", &error) == EITRI_OK, "a statement");
    expect(eitri_description_finish(description, &module, &error) == EITRI_ERROR, "the second statement is wrong");
    expect(eitri_error_where(error, &place) && place.json_path && strstr(place.json_path, "describe[1]"),
           "the error names the statement");
    eitri_error_free(error);
    eitri_description_free(description);
    expect_error(eitri_description_add(description, "{}", 2, &error), EITRI_ARGUMENT, &error, "not a living handle");
    eitri_description_free(description);

    /* Handles of another type. */
    expect(eitri_module_from_json(json, sizeof json - 1, &module, &error) == EITRI_OK, "a module");
    expect_error(eitri_description_add((eitri_description *)module, "{}", 2, &error), EITRI_ARGUMENT, &error,
                 "another type");
    eitri_buffer_free((eitri_buffer *)module);

    /* Options. */
    memset(&options, 0, sizeof options);
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "size 0");
    options.size = sizeof options;
    options.flags = EITRI_FIX;
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "flags 0x200");
    options.flags = EITRI_REPLACE;
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "flags 0x2");
    options.flags = 0;
    options.target = "x86_64";
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "`options.target`");
    options.target = NULL;
    options.flags = EITRI_ZLIB | EITRI_ZSTD;
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "EITRI_ZSTD");
    options.flags = 0;
    options.consumer = "gdb";
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ERROR, &error, "did you mean `dwarf5`");
    options.consumer = "\xff";
    expect_error(eitri_emit(module, &options, &buffer, &error), EITRI_ARGUMENT, &error, "UTF-8");
    options.consumer = NULL;

    /* Callbacks that fail, call the library, and free the handle. The machine has no memory of its own for a vector
     * register: DWARF 5 without vendor operations lacks the location, and the callback is told. */
    options.context = &calls;
    options.omitted = fail_at_once;
    options.consumer = "dwarf5";
    options.flags = EITRI_PARTIAL;
    expect(eitri_module_from_json(lane, sizeof lane - 1, &other, &error) == EITRI_OK, "a module with lanes");
    expect_error(eitri_emit(other, &options, &buffer, &error), EITRI_CALLBACK, &error, "`omitted` returned 42");
    expect(calls == 1 && !buffer, "the callback ended the call");
    options.flags = 0;
    expect_error(eitri_emit(other, &options, &buffer, &error), EITRI_ERROR, &error, "variable `n`");
    eitri_module_free(other);
    expect_error(eitri_import("\x7f" "ELF", 4, NULL, NULL, NULL, &other, &error), EITRI_ERROR, &error, "");
    expect_error(eitri_module_from_json(json, 20, &other, &error), EITRI_ERROR, &error, "");
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    expect(eitri_emit(module, &options, &buffer, &error) == EITRI_OK, "an object");
    expect_error(eitri_dump((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), 0, fail_write, NULL,
                            &error),
                 EITRI_CALLBACK, &error, "`write` returned 9");
    expect(eitri_check(module, (const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), NULL, NULL, NULL,
                       &counts, &error) == EITRI_OK && counts.findings == 0 && counts.locations > 0,
           "the object is right");
    expect_error(eitri_check(module, "x", 1, NULL, NULL, NULL, &counts, &error), EITRI_ERROR, &error, "");
    /* The object does not state the size of a wave; its entries do. */
    expect(eitri_import((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), NULL, NULL, NULL, &other,
                        &error) == EITRI_OK, "the target follows from entries");
    eitri_module_free(other);
    other = NULL;
    {
        eitri_buffer *rewritten = NULL;
        expect(eitri_rewrite((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), NULL, &rewritten,
                             &error) == EITRI_OK, "the target of a rewritten object too");
        eitri_buffer_free(rewritten);
    }
    eitri_buffer_free(buffer);
    buffer = NULL;
    options.consumer = "dwarf5";
    expect(eitri_emit(module, &options, &buffer, &error) == EITRI_OK, "an object without lanes");
    options.consumer = NULL;
    expect_error(eitri_import((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), NULL, NULL, NULL,
                              &other, &error), EITRI_ERROR, &error, "`target`");
    expect_error(eitri_import((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), "gfx", NULL, NULL,
                              &other, &error), EITRI_ERROR, &error, "gfx");
    expect(eitri_import((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), "amdgpu-gfx1030-wave32",
                        NULL, NULL, &other, &error) == EITRI_OK, "the target is given");
    eitri_module_free(other);
    other = NULL;
    options.target = "amdgpu-gfx1030-wave32";
    {
        eitri_buffer *rewritten = NULL;
        expect(eitri_rewrite((const char *)eitri_buffer_data(buffer), eitri_buffer_size(buffer), &options, &rewritten,
                             &error) == EITRI_OK, "a given target");
        eitri_buffer_free(rewritten);
    }
    options.target = NULL;
    eitri_buffer_free(buffer);
    buffer = NULL;
    expect(eitri_emit_sections(module, NULL, reenter, module, &error) == EITRI_OK, "sections");
    expect_error(eitri_emit_sections(module, NULL, NULL, NULL, &error), EITRI_ARGUMENT, &error, "`section` is NULL");

    /* Machines. */
    memset(&machine, 0, sizeof machine);
    expect_error(eitri_evaluate((const uint8_t *)"\x30", 1, "x86_64", NULL, &machine, 0, &buffer, &error),
                 EITRI_ARGUMENT, &error, "size 0");
    machine.size = sizeof machine;
    machine.read_memory = fail_memory;
    expect_error(eitri_evaluate((const uint8_t *)"\x30\x06", 2, "x86_64", NULL, &machine, 0, &buffer, &error),
                 EITRI_CALLBACK, &error, "`read_memory` returned 77");
    machine.read_memory = NULL;
    expect(eitri_evaluate((const uint8_t *)"\x30\x06", 2, "x86_64", NULL, &machine, 0, &buffer, &error) == EITRI_OK,
           "unavailable memory is a result");
    expect(buffer && eitri_buffer_size(buffer) > 5 && !memcmp(eitri_buffer_data(buffer), "error", 5),
           "the result is an error");
    eitri_buffer_free(buffer);
    buffer = NULL;

    {
        uint8_t byte;
        unsigned depth = 0;
        expect(evaluate_again(&depth, 0, 0, 0, &byte, 1) == 2 && depth == 33, "endless evaluations end");
    }

    /* The byte order is the target's: DW_OP_const2u 0x1234, DW_OP_stack_value. */
    expect_result("\x0a\x12\x34\x9f", 4, "s390x", "location implicit:0000000000001234");
    expect_result("\x0a\x34\x12\x9f", 4, "x86_64", "location implicit:3412000000000000");
    expect(eitri_assemble("const2u 0x1234", "s390x", NULL, &buffer, &error) == EITRI_OK
               && eitri_buffer_size(buffer) == 3 && !memcmp(eitri_buffer_data(buffer), "\x0a\x12\x34", 3),
           "the most significant byte is first on s390x");
    eitri_buffer_free(buffer);
    buffer = NULL;

    /* SPIR-V. */
    expect_error(eitri_spirv_check((const uint32_t *)(const void *)((const char *)&counts + 1), 2, NULL, NULL, &error),
                 EITRI_ARGUMENT, &error, "multiple of 4");
    {
        uint32_t words[5] = {0x07230203, 0x00010000, 0, 1, 0};
        expect_error(eitri_spirv_strip(words, 5, 3, &buffer, &error), EITRI_ARGUMENT, &error, "flags");
        expect_error(eitri_spirv_check(words, 3, NULL, NULL, &error), EITRI_ERROR, &error, "");
    }

    /* The module lives until the call ends. */
    expect(eitri_emit_sections(module, NULL, free_module, module, &error) == EITRI_OK, "freed in a callback");
    expect_error(eitri_emit(module, NULL, &buffer, &error), EITRI_ARGUMENT, &error, "not a living handle");
    printf("%u failures\n", failures);
    return failures != 0;
}
