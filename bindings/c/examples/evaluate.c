/* Evaluates an expression on a machine whose registers and memory are behind callbacks. */
#include <eitri.h>

#include <stdio.h>
#include <string.h>

/* Register v3: 32 lanes of 4 bytes, each lane's number times 16. Everything else is unavailable. */
static int read_register(void *context, uint64_t number, uint32_t frame, uint32_t offset, uint8_t *into, size_t size)
{
    size_t i;
    (void)context;
    /* DWARF number 1539 is v3 with 32 lanes ("User Guide for AMDGPU Backend", Register Identifier). */
    if (number != 1539 || frame != 0)
        return EITRI_UNAVAILABLE;
    for (i = 0; i < size; i++) {
        uint32_t value = (uint32_t)((offset + i) / 4) * 16;
        into[i] = (uint8_t)(value >> 8 * ((offset + i) % 4));
    }
    return 0;
}

int main(void)
{
    const char *expression = "regx v3; push_lane; lit4; mul; offset";
    eitri_machine machine;
    eitri_buffer *bytes = NULL, *result = NULL;
    eitri_error *error = NULL;

    memset(&machine, 0, sizeof machine);
    machine.size = sizeof machine;
    machine.read_register = read_register;
    machine.lane = 5;
    machine.has_lane = 1;
    if (eitri_assemble(expression, "amdgpu-gfx1030-wave32", NULL, &bytes, &error)
        || eitri_evaluate(eitri_buffer_data(bytes), eitri_buffer_size(bytes), "amdgpu-gfx1030-wave32", NULL, &machine,
                          32, &result, &error)) {
        fprintf(stderr, "evaluate: %s\n", eitri_error_message(error));
        eitri_error_free(error);
        return 1;
    }
    printf("%.*s\n", (int)eitri_buffer_size(result), (const char *)eitri_buffer_data(result));
    eitri_buffer_free(result);
    eitri_buffer_free(bytes);
    return 0;
}
