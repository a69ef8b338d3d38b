/* A handle that is not freed is a leak for tools that look for leaks. */
#include <eitri.h>

int main(void)
{
    eitri_module *module = 0;
    static const char json[] = "{\"eitri\": 1, \"target\": \"x86_64\", \"describe\": []}";
    int i;
    /* Many, because the last can be in a register. */
    for (i = 0; i < 8; i++)
        eitri_module_from_json(json, sizeof json - 1, &module, 0);
    module = 0;
    return 0;
}
