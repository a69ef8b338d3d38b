/* eitri for C: debug information of GPU compilers, written, checked, diagnosed, evaluated.
 *
 * Handles are pointers to incomplete types. The function that makes a handle names the function that frees it; freeing
 * NULL does nothing. A handle that is NULL, was freed, or is of another type, is an error (EITRI_ARGUMENT) wherever the
 * address has not been given to a new handle since. Functions may be called from all threads at once, also with the same
 * handle; only freeing a handle while another thread uses it is forbidden.
 *
 * Functions that can fail return an eitri_result, and take an `eitri_error **` as their last argument: it may be NULL;
 * otherwise it is set to NULL on success, and to an error on failure, which eitri_error_free frees. Other results are
 * written only on success.
 *
 * Bytes are passed by a pointer, which may be NULL if the size is 0, and a size. They are not kept after the call. Names
 * and other short texts end with a NUL and are UTF-8. Pointers in a structure that a callback gets are valid until the
 * callback returns. A callback returns 0 to go on; with any other number the function ends with EITRI_CALLBACK. A
 * callback may call every function of this header, up to 32 calls in each other; it must not throw, and must not jump out
 * of the call.
 *
 * A call needs 64 KiB of its thread's stack. If less than 1 MiB is left, it runs on a stack of 4 MiB, which is freed at its
 * end; callbacks run there too.
 */

#ifndef EITRI_H
#define EITRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 Omit what the consumer's format cannot express, and pass it to `omitted`. Without this flag it is an error.
 */
#define EITRI_PARTIAL (1 << 0)

/*
 Replace debug information that the object already has. Without this flag it is an error. For `eitri_attach`.
 */
#define EITRI_REPLACE (1 << 1)

/*
 Write 64-bit DWARF.
 */
#define EITRI_DWARF64 (1 << 2)

/*
 Add DWARF 5's name index, `.debug_names`.
 */
#define EITRI_NAMES (1 << 3)

/*
 Add `.debug_pubnames` and `.debug_pubtypes`.
 */
#define EITRI_PUBNAMES (1 << 4)

/*
 Add `.debug_aranges`.
 */
#define EITRI_ARANGES (1 << 5)

/*
 Put named structures and enumerations into type units, in DWARF 4 and 5.
 */
#define EITRI_TYPE_UNITS (1 << 6)

/*
 Compress debug sections by zlib.
 */
#define EITRI_ZLIB (1 << 7)

/*
 Compress debug sections by zstd.
 */
#define EITRI_ZSTD (1 << 8)

/*
 Write what lint proves wrong as it was meant, as far as the code proves it; remove it otherwise. For `eitri_rewrite`.
 */
#define EITRI_FIX (1 << 9)

/*
 Remove what belongs to code that is not in the linked object. For `eitri_rewrite`.
 */
#define EITRI_GC (1 << 10)

/*
 Describe equal types of all units once. For `eitri_rewrite`.
 */
#define EITRI_DEDUPE (1 << 11)

/*
 Remove also types, constants and extensions that nothing uses after that. For `eitri_spirv_strip`.
 */
#define EITRI_ALL (1 << 12)

/*
 Node of a location: a register from its first bit on. `number` is the DWARF number.
 */
#define EITRI_NODE_REGISTER 0

/*
 A vector register's current lane. `number` is the register's DWARF number.
 */
#define EITRI_NODE_PER_LANE 1

/*
 A lane of a vector register. `number` is the register's DWARF number, `other` the lane.
 */
#define EITRI_NODE_LANE 2

/*
 Memory at the number before it. `number` is the address space's DWARF number; 0 is the default space.
 */
#define EITRI_NODE_MEMORY 3

/*
 The location before it, `other` bytes further on.
 */
#define EITRI_NODE_OFFSET 4

/*
 A stack slot, `other` bytes of one lane from the base of the function's stack frame.
 */
#define EITRI_NODE_STACK_SLOT 5

/*
 The canonical frame address, as a location.
 */
#define EITRI_NODE_CFA 6

/*
 No storage: the number before it.
 */
#define EITRI_NODE_VALUE 7

/*
 The first bits of the location before it, as a part of EITRI_NODE_PARTS. `number` is the size in bits.
 */
#define EITRI_NODE_PART 8

/*
 The parts before it, the first in the lowest bits. `number` is how many they are.
 */
#define EITRI_NODE_PARTS 9

/*
 Undefined bits.
 */
#define EITRI_NODE_UNDEFINED 10

/*
 A number: the constant `number`.
 */
#define EITRI_NODE_CONSTANT 32

/*
 The number in a whole register. `number` is the DWARF number.
 */
#define EITRI_NODE_READ_REGISTER 33

/*
 The number in the first `number` bits, 1 to 64, of the location before it.
 */
#define EITRI_NODE_READ 34

/*
 The number before it, plus the constant `other`.
 */
#define EITRI_NODE_PLUS 35

/*
 The sum of the two numbers before it.
 */
#define EITRI_NODE_ADD 36

/*
 The first minus the second number before it.
 */
#define EITRI_NODE_SUB 37

/*
 The product of the two numbers before it.
 */
#define EITRI_NODE_MUL 38

/*
 The bitwise and of the two numbers before it.
 */
#define EITRI_NODE_AND 39

/*
 The bitwise or of the two numbers before it.
 */
#define EITRI_NODE_OR 40

/*
 The bitwise exclusive or of the two numbers before it.
 */
#define EITRI_NODE_XOR 41

/*
 The first number before it, shifted left by the second.
 */
#define EITRI_NODE_SHL 42

/*
 The first number before it, shifted right by the second; zeros follow.
 */
#define EITRI_NODE_SHR 43

/*
 Result of a machine's callback that does not have the bytes. 0 is success; any other number ends the evaluation
 with EITRI_CALLBACK.
 */
#define EITRI_UNAVAILABLE 1

/*
 Result of a function.
 */
typedef enum {
    /*
     Success.
     */
    EITRI_OK = 0,
    /*
     The input is wrong: a description, an object, an expression.
     */
    EITRI_ERROR = 1,
    /*
     An argument cannot be used: NULL, a freed handle, options of another size, a text that is not UTF-8.
     */
    EITRI_ARGUMENT = 2,
    /*
     A callback returned a number other than 0.
     */
    EITRI_CALLBACK = 3,
    /*
     A mistake in the library. The arguments' handles can be used again.
     */
    EITRI_INTERNAL = 4,
} eitri_result;

/*
 Symbol or section whose address or offset a relocation stores.
 */
typedef enum {
    /*
     The start of another debug section: the section with this name in the same group, or else in no group.
     */
    EITRI_SECTION = 0,
    /*
     A symbol of the code or data.
     */
    EITRI_SYMBOL = 1,
    /*
     The distance from the field to a symbol.
     */
    EITRI_DISTANCE = 2,
} eitri_relocation_kind;

/*
 Level of a finding.
 */
typedef enum {
    /*
     Worth knowing; not wrong.
     */
    EITRI_NOTE = 0,
    /*
     May mislead.
     */
    EITRI_WARNING = 1,
    /*
     Wrong.
     */
    EITRI_WRONG = 2,
} eitri_level;

/*
 Bytes that a function returned. `eitri_buffer_free` frees them.
 */
typedef struct eitri_buffer eitri_buffer;

/*
 A description to which statements are added. `eitri_description_free` frees it.
 */
typedef struct eitri_description eitri_description;

/*
 Why a function failed.
 */
typedef struct eitri_error eitri_error;

/*
 A module: what a description or an object's debug information says. It does not change. `eitri_module_free` frees it.
 */
typedef struct eitri_module eitri_module;

/*
 Known parts of an error's location. Texts are NULL where they are unknown, and are valid until the error is
 freed.
 */
typedef struct {
    /*
     Name of the compilation unit.
     */
    const char *unit;
    /*
     Name of the function.
     */
    const char *function;
    /*
     Name of the variable, parameter or constant.
     */
    const char *variable;
    /*
     Section of the object.
     */
    const char *section;
    /*
     Path of keys and indices in the JSON text, such as "describe[17].variable.live[2]".
     */
    const char *json_path;
    /*
     Whether `pcs_start` and `pcs_end` are known.
     */
    bool has_pcs;
    /*
     Whether `offset` is known.
     */
    bool has_offset;
    /*
     Whether `operation` is known.
     */
    bool has_operation;
    /*
     Whether `json_line` and `json_column` are known.
     */
    bool has_json;
    /*
     Start of the half-open pc range, in bytes from the function's start.
     */
    uint64_t pcs_start;
    /*
     End of the pc range.
     */
    uint64_t pcs_end;
    /*
     Offset in bytes from the start of the section, or of the expression if there is no section.
     */
    uint64_t offset;
    /*
     Index of the operation in its expression, counted from 0.
     */
    uint64_t operation;
    /*
     Line in the JSON text, counted from 1.
     */
    uint64_t json_line;
    /*
     Character in the line, counted from 1.
     */
    uint64_t json_column;
} eitri_error_place;

/*
 A callback that gets a message. NULL takes no messages.
 */
typedef int (*eitri_message_callback)(void *context,
                                      const char *message);

/*
 A node of a location. Nodes are in postfix order: a node comes after its operands. Statements in JSON have more nodes.
 */
typedef struct {
    /*
     EITRI_NODE_REGISTER and the other kinds.
     */
    uint32_t kind;
    /*
     A register, a space, a size or a constant, by the kind; otherwise 0.
     */
    uint64_t number;
    /*
     A lane, a distance or a constant, by the kind; otherwise 0.
     */
    int64_t other;
} eitri_node;

/*
 A variable's location in a pc range.
 */
typedef struct {
    /*
     First pc, in bytes from the function's start.
     */
    uint64_t start;
    /*
     Pc after the last.
     */
    uint64_t end;
    /*
     Nodes of the location.
     */
    const eitri_node *nodes;
    /*
     Number of the nodes.
     */
    size_t nodes_count;
} eitri_live;

/*
 A variable or a parameter. A structure in which fields are 0 lacks them.
 */
typedef struct {
    /*
     `sizeof(eitri_variable)`.
     */
    size_t size;
    /*
     Name or id of the scope: a function, a block, a unit.
     */
    const char *scope;
    /*
     Name of the variable. NULL is a variable without a name.
     */
    const char *name;
    /*
     Name or id of the type.
     */
    const char *type;
    /*
     Id for statements that refer to the variable, or NULL.
     */
    const char *id;
    /*
     Not 0 for a parameter of the function.
     */
    uint8_t is_parameter;
    /*
     File of the declaration, or NULL.
     */
    const char *file;
    /*
     Line of the declaration, counted from 1.
     */
    uint32_t line;
    /*
     Column of the declaration, counted from 1; 0 without one.
     */
    uint32_t column;
    /*
     Nodes of the location at all pcs, or NULL.
     */
    const eitri_node *always;
    /*
     Number of these nodes.
     */
    size_t always_count;
    /*
     Locations by pc, or NULL.
     */
    const eitri_live *live;
    /*
     Number of these locations.
     */
    size_t live_count;
} eitri_variable;

/*
 Options for writing debug information. NULL instead of a structure, and a structure in which all fields but `size` are 0, are
 the defaults.
 */
typedef struct {
    /*
     `sizeof(eitri_options)`.
     */
    size_t size;
    /*
     Name of the consumer: "llvm", "rocgdb", "rocgdb-legacy", "cuda-gdb", "dwarf2" to "dwarf5". NULL is "cuda-gdb" on
     NVIDIA's targets, "dwarf5" on CPUs, "llvm" on all others, and for `eitri_rewrite` a consumer that reads what the producer wrote.
     */
    const char *consumer;
    /*
     For `eitri_rewrite`: the target, where the object does not state it: a name or a JSON object, as for
     `eitri_description_new`. NULL is the object's.
     */
    const char *target;
    /*
     EITRI_PARTIAL and the other flags, combined by |.
     */
    uint32_t flags;
    /*
     Gets what the output lacks: what the consumer's format cannot express, and for `eitri_rewrite` also what is not
     imported.
     */
    eitri_message_callback omitted;
    /*
     Gets valid statements that can be mistakes, in the form "kind: message". For `eitri_emit` and `eitri_attach`.
     */
    eitri_message_callback warned;
    /*
     Gets what `eitri_rewrite` changed.
     */
    eitri_message_callback changed;
    /*
     First argument of the callbacks.
     */
    void *context;
} eitri_options;

/*
 A field that the linker computes.
 */
typedef struct {
    /*
     Offset of the field from the start of the section, in bytes. The field is 0.
     */
    uint64_t offset;
    /*
     Number of bytes to add, modulo 2^64.
     */
    uint64_t addend;
    /*
     Name of the section or symbol.
     */
    const char *name;
    /*
     Kind of the target.
     */
    eitri_relocation_kind kind;
    /*
     Size of the field in bytes: 4 or 8.
     */
    uint8_t size;
} eitri_relocation;

/*
 A debug section.
 */
typedef struct {
    /*
     Name, with the leading dot.
     */
    const char *name;
    /*
     Contents.
     */
    const uint8_t *data;
    /*
     Number of bytes.
     */
    size_t size;
    /*
     Relocations, with ascending offsets.
     */
    const eitri_relocation *relocations;
    /*
     Number of relocations.
     */
    size_t relocation_count;
    /*
     Whether the section consists of strings that end with a NUL, and that a linker may merge.
     */
    bool is_strings;
    /*
     Whether the section is in the group `group`; a linker keeps one group with this name.
     */
    bool has_group;
    /*
     Signature of the type unit in the section's group.
     */
    uint64_t group;
} eitri_section;

/*
 A callback that gets a section.
 */
typedef int (*eitri_section_callback)(void *context,
                                      const eitri_section *section);

/*
 A finding of `eitri_check`, `eitri_lint` or `eitri_spirv_check`. Texts are NULL where they are unknown.
 */
typedef struct {
    /*
     Level. What `eitri_check` finds is EITRI_WRONG.
     */
    eitri_level level;
    /*
     Code of the finding, such as "register-as-memory".
     */
    const char *code;
    /*
     The whole finding in one line, or more with evidence.
     */
    const char *message;
    /*
     The whole finding as a JSON object, by the schema `finding`; NULL from other functions than `eitri_lint`.
     */
    const char *json;
    /*
     Name of the compilation unit.
     */
    const char *unit;
    /*
     Name of the function.
     */
    const char *function;
    /*
     Name of the variable, parameter or constant.
     */
    const char *variable;
    /*
     Section of the object.
     */
    const char *section;
    /*
     Whether `pcs_start` and `pcs_end` are known.
     */
    bool has_pcs;
    /*
     Whether `offset` is known.
     */
    bool has_offset;
    /*
     Start of the half-open pc range: an address in the object from `eitri_lint`, bytes from the function's start from
     `eitri_check`.
     */
    uint64_t pcs_start;
    /*
     End of the pc range.
     */
    uint64_t pcs_end;
    /*
     Offset in bytes from the start of the section; in words from the start of a SPIR-V module.
     */
    uint64_t offset;
} eitri_finding;

/*
 A callback that gets a finding. NULL takes no findings.
 */
typedef int (*eitri_finding_callback)(void *context,
                                      const eitri_finding *finding);

/*
 Counts of a comparison.
 */
typedef struct {
    /*
     Differences. 0 if the object says what the module says.
     */
    uint64_t findings;
    /*
     Parts that cannot be compared, such as raw expressions.
     */
    uint64_t unproven;
    /*
     Compared debugging information entries.
     */
    uint64_t entries;
    /*
     Compared locations: in a cubin, of each variable at each pc.
     */
    uint64_t locations;
    /*
     Compared rows of line tables.
     */
    uint64_t rows;
} eitri_check_counts;

/*
 A callback that gets the next bytes of an output.
 */
typedef int (*eitri_write_callback)(void *context,
                                    const char *data,
                                    size_t size);

/*
 A callback that gets a number with its name.
 */
typedef int (*eitri_number_callback)(void *context,
                                     const char *name,
                                     uint64_t number);

/*
 A stopped machine. All fields but `size` may be 0 or NULL: what a callback that is NULL would tell is unavailable. The
 results must not change during an evaluation.
 */
typedef struct {
    /*
     `sizeof(eitri_machine)`.
     */
    size_t size;
    /*
     First argument of the callbacks.
     */
    void *context;
    /*
     Reads `size` bytes of the register with a DWARF number, from byte `offset`; byte 0 is the least significant. Frame 0
     is the innermost, frame 1 its caller.
     */
    int (*read_register)(void *context,
                         uint64_t number,
                         uint32_t frame,
                         uint32_t offset,
                         uint8_t *into,
                         size_t size);
    /*
     Reads `size` bytes of an address space, by its DWARF number. `lane` is the lane whose memory it is, or -1 in a space
     that lanes share.
     */
    int (*read_memory)(void *context,
                       uint64_t space,
                       int64_t lane,
                       uint64_t address,
                       uint8_t *into,
                       size_t size);
    /*
     Gives the canonical frame address of a frame: an address in a space.
     */
    int (*read_cfa)(void *context,
                    uint32_t frame,
                    uint64_t *space,
                    uint64_t *address);
    /*
     The current lane, counted from 0, if `has_lane` is not 0.
     */
    uint64_t lane;
    /*
     The address in the file at which the machine is stopped, if `has_pc` is not 0.
     */
    uint64_t pc;
    /*
     By how many bytes the file is loaded above its addresses.
     */
    uint64_t load_bias;
    /*
     Whether there is a current lane.
     */
    uint8_t has_lane;
    /*
     Whether the pc is known.
     */
    uint8_t has_pc;
} eitri_machine;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the library's version, such as "0.1.0". The text is never freed.
 */
const char *eitri_version(void);

/*
 Returns the whole message, with the place, in one line. It is valid until the error is freed. NULL for no error.
 */
const char *eitri_error_message(const eitri_error *error);

/*
 Returns the name of the error's kind, such as "UnknownName", on which a program can react: the name in the
 documentation of Rust's `ErrorKind`, or "Argument", "Callback", "Internal". It is valid until the error is freed. NULL
 for no error.
 */
const char *eitri_error_kind(const eitri_error *error);

/*
 Writes what an error concerns. Returns whether `error` is an error and `place` is not NULL.

 # Safety
 `place` is NULL or can be written to.
 */
bool eitri_error_where(const eitri_error *error,
                       eitri_error_place *place);

/*
 Frees an error, and its texts.
 */
void eitri_error_free(eitri_error *error);

/*
 Returns the bytes, which are valid until the buffer is freed. NULL if there are none. The words of a SPIR-V module are
 aligned, in the machine's byte order.
 */
const uint8_t *eitri_buffer_data(const eitri_buffer *buffer);

/*
 Returns the number of bytes.
 */
size_t eitri_buffer_size(const eitri_buffer *buffer);

/*
 Frees a buffer, and its bytes.
 */
void eitri_buffer_free(eitri_buffer *buffer);

/*
 Makes a description without statements. `target` is the name of a built-in target, such as "amdgpu-gfx1100-wave32", or
 a target's facts as a JSON object.

 # Safety
 `target` is a text, and `description` can be written to.
 */
eitri_result eitri_description_new(const char *target,
                                   eitri_description **description,
                                   eitri_error **error);

/*
 Adds a statement, or a JSON list of statements. Only the JSON is checked now: a statement is read by
 `eitri_description_finish`, whose errors name it by its number, its kind and its name.

 # Safety
 `statements` points to `size` bytes.
 */
eitri_result eitri_description_add(eitri_description *description,
                                   const char *statements,
                                   size_t size,
                                   eitri_error **error);

/*
 Reads the statements added so far, and makes the module that they describe. The description stays, and can get more
 statements.

 # Safety
 `module` can be written to.
 */
eitri_result eitri_description_finish(eitri_description *description,
                                      eitri_module **module,
                                      eitri_error **error);

/*
 Frees a description. Modules that were made from it stay.
 */
void eitri_description_free(eitri_description *description);

/*
 Makes a module from a whole description in JSON.

 # Safety
 `json` points to `size` bytes, and `module` can be written to.
 */
eitri_result eitri_module_from_json(const char *json,
                                    size_t size,
                                    eitri_module **module,
                                    eitri_error **error);

/*
 Writes a module as a description in JSON, a statement on each line, into a new buffer.

 # Safety
 `json` can be written to.
 */
eitri_result eitri_module_to_json(const eitri_module *module,
                                  eitri_buffer **json,
                                  eitri_error **error);

/*
 Passes each warning about a module's description to a callback, in the form "kind: message".

 # Safety
 `warning` takes `context`.
 */
eitri_result eitri_module_warnings(const eitri_module *module,
                                   eitri_message_callback warning,
                                   void *context,
                                   eitri_error **error);

/*
 Frees a module.
 */
void eitri_module_free(eitri_module *module);

/*
 Adds a variable or a parameter, as the JSON statements `variable` and `parameter` do, without their text. It comes
 after the statements that were added before: its scope and its type are those of such statements. Nodes that are not a
 location are an error now. All other mistakes are errors of `eitri_description_finish`, which name the variable
 `variables[3]`, counted from 0.

 # Safety
 `variable` points to a structure whose pointers are valid.
 */
eitri_result eitri_description_variable(eitri_description *description,
                                        const eitri_variable *variable,
                                        eitri_error **error);

/*
 Looks up a register of the description's target by its name, such as "v40", for nodes.

 # Safety
 `name` is a text, and `number` can be written to.
 */
eitri_result eitri_description_register(const eitri_description *description,
                                        const char *name,
                                        uint64_t *number,
                                        eitri_error **error);

/*
 Writes a module's debug sections, for an object that the caller writes, and passes each to a callback.

 # Safety
 `options` is NULL or points to options; `section` takes `context`.
 */
eitri_result eitri_emit_sections(const eitri_module *module,
                                 const eitri_options *options,
                                 eitri_section_callback section,
                                 void *context,
                                 eitri_error **error);

/*
 Writes a module as a new relocatable ELF object that has only debug sections, with undefined symbols for the code, into
 a new buffer. PTX is not an object: for "cuda-gdb", `eitri_attach` writes it.

 # Safety
 `options` is NULL or points to options; `object` can be written to.
 */
eitri_result eitri_emit(const eitri_module *module,
                        const eitri_options *options,
                        eitri_buffer **object,
                        eitri_error **error);

/*
 Adds a module's debug information to an ELF object with the code, relocatable or linked; for "cuda-gdb", to a PTX text.
 The result is a new buffer.

 # Safety
 `code` points to `size` bytes; `options` is NULL or points to options; `object` can be written to.
 */
eitri_result eitri_attach(const eitri_module *module,
                          const char *code,
                          size_t size,
                          const eitri_options *options,
                          eitri_buffer **object,
                          eitri_error **error);

/*
 Compares an object, or a PTX text, with the module that was written into it: entries, rows, frames, and locations by
 evaluation. For "cuda-gdb", an object is the cubin that ptxas generated from the PTX, and has its text. Each difference is passed to a callback. Differences are no error: `counts` has their number.

 # Safety
 `object` points to `size` bytes; `options` is NULL or points to the options with which the object was written; `finding`
 takes `context`; `counts` can be written to.
 */
eitri_result eitri_check(const eitri_module *module,
                         const char *object,
                         size_t size,
                         const eitri_options *options,
                         eitri_finding_callback finding,
                         void *context,
                         eitri_check_counts *counts,
                         eitri_error **error);

/*
 Checks an object's debug information, or a SPIR-V module's, without a description, whichever producer wrote it. Each finding is passed to a
 callback. `name` is the object's name in findings; NULL is "". Findings are no error.

 # Safety
 `object` points to `size` bytes; `name` is NULL or a text; `finding` takes `context`.
 */
eitri_result eitri_lint(const char *object,
                        size_t size,
                        const char *name,
                        eitri_finding_callback finding,
                        void *context,
                        eitri_error **error);

/*
 Prints an object's debug sections, or a SPIR-V module's debug instructions. The text is passed to a callback in parts;
 `is_verbose` prints more of each entry. An error comes after the text of all that can be printed.

 # Safety
 `object` points to `size` bytes; `write` takes `context`.
 */
eitri_result eitri_dump(const char *object,
                        size_t size,
                        int is_verbose,
                        eitri_write_callback write,
                        void *context,
                        eitri_error **error);

/*
 Measures in which part of the code an object's variables have locations. Each number is passed to a callback, under the
 name that llvm-dwarfdump's statistics have for it.

 # Safety
 `object` points to `size` bytes; `number` takes `context`.
 */
eitri_result eitri_stats(const char *object,
                         size_t size,
                         eitri_number_callback number,
                         void *context,
                         eitri_error **error);

/*
 Measures the same, with the coverage of each function, variable and unit, as a JSON object in a new buffer: a line of
 `eitri stats --format json`, whose schema is `docs/statistics.schema.json`. `name` is the object's name in it; NULL is "".

 # Safety
 `object` points to `size` bytes; `name` is NULL or a text; `json` can be written to.
 */
eitri_result eitri_stats_json(const char *object,
                              size_t size,
                              const char *name,
                              eitri_buffer **json,
                              eitri_error **error);

/*
 Draws an object's debug information as an HTML page without references to other files, into a new buffer. `name` is the
 object's name in the page.

 # Safety
 `object` points to `size` bytes; `name` is NULL or a text; `page` can be written to.
 */
eitri_result eitri_report(const char *object,
                          size_t size,
                          const char *name,
                          eitri_buffer **page,
                          eitri_error **error);

/*
 Makes a module from an object's debug information, whichever producer wrote it. Facts that a module cannot hold are
 passed to the callback `unimported`. `target_name` is the target, where the object does not state it, as for
 `eitri_description_new`; NULL is the object's.

 # Safety
 `object` points to `size` bytes; `target_name` is NULL or a text; `unimported` takes `context`; `module` can be written to.
 */
eitri_result eitri_import(const char *object,
                          size_t size,
                          const char *target_name,
                          eitri_message_callback unimported,
                          void *context,
                          eitri_module **module,
                          eitri_error **error);

/*
 Writes an object's debug information again, for the same or another consumer, into a new buffer: with EITRI_FIX without
 what lint proves wrong. Code and loaded bytes stay identical. What changes and what is lost is passed to the options'
 callbacks.

 # Safety
 `object` points to `size` bytes; `options` is NULL or points to options; `rewritten` can be written to.
 */
eitri_result eitri_rewrite(const char *object,
                           size_t size,
                           const eitri_options *options,
                           eitri_buffer **rewritten,
                           eitri_error **error);

/*
 Returns the bytes of an expression in text, such as "regx v3; push_lane; lit4; mul; offset", in a new buffer. `target`
 and `consumer` are as for `eitri_evaluate`.

 # Safety
 `expression` and `target` are texts, `consumer` is NULL or a text, and `bytes` can be written to.
 */
eitri_result eitri_assemble(const char *expression,
                            const char *target_name,
                            const char *consumer,
                            eitri_buffer **bytes,
                            eitri_error **error);

/*
 Evaluates an expression on a machine, by the specification to the letter. The result is a text in the notation of
 conformance vectors, such as "location reg:v3+160, bytes 05 45 85 c5", in a new buffer. An expression that cannot be
 evaluated is a result too: "error: ...". At a location, `bits` bits are read; 0 reads none. `target` is a target's name
 or its facts in JSON, and `consumer` names the dialect, as in `eitri_options`; NULL is the target's default.

 # Safety
 `expression` points to `size` bytes; `target` is a text, `consumer` is NULL or a text; `machine` points to a machine
 whose callbacks take its context; `result` can be written to.
 */
eitri_result eitri_evaluate(const uint8_t *expression,
                            size_t size,
                            const char *target_name,
                            const char *consumer,
                            const eitri_machine *machine,
                            uint64_t bits,
                            eitri_buffer **result,
                            eitri_error **error);

/*
 Adds debug instructions to a SPIR-V module without any, by a description in JSON whose key `spirv` has the ids and
 positions. The result, which was read back and compared with the description, is a new buffer of words. `reader` is
 "vulkan", "opencl" or another mode's name; NULL is "vulkan" for a shader and "opencl" otherwise. What the instruction
 set cannot express is an error; with EITRI_PARTIAL in `flags`, it is omitted, and passed to `omitted`.

 # Safety
 `json` points to `json_size` bytes, `words` to `count` words; `reader` is NULL or a text; `omitted` takes `context`;
 `attached` can be written to.
 */
eitri_result eitri_spirv_attach(const char *json,
                                size_t json_size,
                                const uint32_t *words,
                                size_t count,
                                const char *reader,
                                uint32_t flags,
                                eitri_message_callback omitted,
                                void *context,
                                eitri_buffer **attached,
                                eitri_error **error);

/*
 Checks every debug instruction of a SPIR-V module by the rules in its specification. Each finding is passed to a
 callback. Findings are no error.

 # Safety
 `words` points to `count` words; `finding` takes `context`.
 */
eitri_result eitri_spirv_check(const uint32_t *words,
                               size_t count,
                               eitri_finding_callback finding,
                               void *context,
                               eitri_error **error);

/*
 Removes debug instructions and lines from a SPIR-V module, whichever producer wrote them. `flags` is 0 or EITRI_ALL. The
 result is a new buffer of words.

 # Safety
 `words` points to `count` words; `stripped` can be written to.
 */
eitri_result eitri_spirv_strip(const uint32_t *words,
                               size_t count,
                               uint32_t flags,
                               eitri_buffer **stripped,
                               eitri_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* EITRI_H */
