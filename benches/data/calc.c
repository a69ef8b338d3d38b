/* A calculator: expressions with variables, read, kept as a tree, simplified and worked out. */
typedef unsigned long size_type;
typedef enum { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_PLUS, TOKEN_MINUS, TOKEN_TIMES, TOKEN_OVER, TOKEN_OPEN,
               TOKEN_CLOSE, TOKEN_ASSIGN, TOKEN_BAD = -1 } TokenKind;
enum NodeKind { NODE_NUMBER = 1, NODE_NAME, NODE_NEGATIVE, NODE_BINARY = 0x100, NODE_ASSIGN };

typedef struct Token { TokenKind kind; const char *start; unsigned length; double number; } Token;
typedef struct Node Node;
typedef double (*Operation)(double, double);
struct Node {
    enum NodeKind kind;
    unsigned depth : 12, is_constant : 1, is_shared : 1;
    int line;
    union {
        double number;
        struct { unsigned slot; char first[4]; } name;
        struct { Node *left, *right; Operation run; } binary;
    } as;
};
typedef struct { const char *at; int line; Token current; char message[48]; } Reader;
typedef struct { Node nodes[256]; unsigned short used; double values[26]; unsigned char is_set[26]; } Memory;

static Memory memory;
int errors;
const char *const token_names[] = { "end", "number", "name", "+", "-", "*", "/", "(", ")", "=" };
extern void report(const char *what, int line, const Token *token);
extern double power_of_ten(int exponent) __attribute__((const));

static inline int is_digit(char c) { return c >= '0' && c <= '9'; }
static inline int is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) {
    if (b == 0) { double limit = a < 0 ? -1e300 : 1e300; errors++; return limit; }
    return a / b;
}

static void fail(Reader *reader, const char *what) {
    size_type index = 0;
    for (; what[index] && index + 1 < sizeof reader->message; index++) reader->message[index] = what[index];
    reader->message[index] = 0;
    report(reader->message, reader->line, &reader->current);
    errors++;
}

static const char *skip_spaces(Reader *reader) {
    const char *at = reader->at;
    while (*at == ' ' || *at == '\n') {
        if (*at == '\n') { int next = reader->line + 1; reader->line = next; }
        at++;
    }
    return at;
}

void advance(Reader *reader) {
    const char *at = skip_spaces(reader);
    Token *token = &reader->current;
    token->start = at;
    token->kind = TOKEN_BAD;
    if (is_digit(*at)) {
        double whole = 0;
        int decimals = 0;
        while (is_digit(*at)) whole = whole * 10 + (*at++ - '0');
        if (*at == '.') {
            for (at++; is_digit(*at); at++) { int digit = *at - '0'; whole = whole * 10 + digit; decimals--; }
        }
        token->number = whole * power_of_ten(decimals);
        token->kind = TOKEN_NUMBER;
    } else if (is_letter(*at)) {
        while (is_letter(*at)) at++;
        token->kind = TOKEN_NAME;
    } else {
        char c = *at;
        switch (c) {
        case 0: token->kind = TOKEN_END; break;
        case '+': token->kind = TOKEN_PLUS; at++; break;
        case '-': token->kind = TOKEN_MINUS; at++; break;
        case '*': token->kind = TOKEN_TIMES; at++; break;
        case '/': token->kind = TOKEN_OVER; at++; break;
        case '(': token->kind = TOKEN_OPEN; at++; break;
        case ')': token->kind = TOKEN_CLOSE; at++; break;
        case '=': token->kind = TOKEN_ASSIGN; at++; break;
        default: fail(reader, "no token begins like this"); at++; break;
        }
    }
    token->length = (unsigned)(at - token->start);
    reader->at = at;
}

static Node *new_node(Reader *reader, enum NodeKind kind) {
    if (memory.used == sizeof memory.nodes / sizeof *memory.nodes) {
        fail(reader, "the expression is too large");
        memory.used = 0;
    }
    Node *node = &memory.nodes[memory.used++];
    node->kind = kind;
    node->line = reader->line;
    node->depth = 1;
    node->is_constant = kind == NODE_NUMBER;
    return node;
}

static inline unsigned deeper(const Node *left, const Node *right) {
    unsigned a = left->depth, b = right ? right->depth : 0;
    return (a > b ? a : b) + 1;
}

static Node *sum(Reader *reader);

static Node *factor(Reader *reader) {
    Token token = reader->current;
    advance(reader);
    if (token.kind == TOKEN_NUMBER) {
        Node *number = new_node(reader, NODE_NUMBER);
        number->as.number = token.number;
        return number;
    }
    if (token.kind == TOKEN_NAME) {
        Node *name = new_node(reader, NODE_NAME);
        name->as.name.slot = (unsigned)(token.start[0] - 'a') % 26;
        for (unsigned i = 0; i < sizeof name->as.name.first && i < token.length; i++)
            name->as.name.first[i] = token.start[i];
        return name;
    }
    if (token.kind == TOKEN_MINUS) {
        Node *inner = factor(reader), *node = new_node(reader, NODE_NEGATIVE);
        node->as.binary.left = inner;
        node->depth = deeper(inner, 0);
        node->is_constant = inner->is_constant;
        return node;
    }
    if (token.kind == TOKEN_OPEN) {
        Node *inner = sum(reader);
        if (reader->current.kind == TOKEN_CLOSE) advance(reader);
        else fail(reader, "a parenthesis is not closed");
        return inner;
    }
    fail(reader, "a number or a name is missing");
    return new_node(reader, NODE_NUMBER);
}

static Node *join(Reader *reader, Node *left, Node *right, Operation run) {
    Node *node = new_node(reader, NODE_BINARY);
    node->as.binary.left = left;
    node->as.binary.right = right;
    node->as.binary.run = run;
    node->depth = deeper(left, right);
    node->is_constant = left->is_constant & right->is_constant;
    if (node->is_constant && left->kind == NODE_NUMBER && right->kind == NODE_NUMBER) {
        double known = run(left->as.number, right->as.number);
        node->kind = NODE_NUMBER;
        node->as.number = known;
    }
    return node;
}

static Node *product(Reader *reader) {
    Node *left = factor(reader);
    for (TokenKind kind = reader->current.kind; kind == TOKEN_TIMES || kind == TOKEN_OVER; kind = reader->current.kind) {
        advance(reader);
        Node *right = factor(reader);
        left = join(reader, left, right, kind == TOKEN_TIMES ? multiply : divide);
    }
    return left;
}

static Node *sum(Reader *reader) {
    Node *left = product(reader);
    for (TokenKind kind = reader->current.kind; kind == TOKEN_PLUS || kind == TOKEN_MINUS; kind = reader->current.kind) {
        advance(reader);
        Node *right = product(reader);
        left = join(reader, left, right, kind == TOKEN_PLUS ? add : subtract);
    }
    return left;
}

double value_of(const Node *node) {
    switch (node->kind) {
    case NODE_NUMBER: return node->as.number;
    case NODE_NAME: {
        unsigned slot = node->as.name.slot;
        if (!memory.is_set[slot]) errors++;
        return memory.values[slot];
    }
    case NODE_NEGATIVE: return -value_of(node->as.binary.left);
    default: {
        double left = value_of(node->as.binary.left);
        double right = value_of(node->as.binary.right);
        return node->as.binary.run(left, right);
    }
    }
}

double calculate(const char *text, unsigned *depth) {
    Reader reader = { .at = text, .line = 1 };
    static unsigned calls;
    calls++;
    memory.used = 0;
    advance(&reader);
    Node *tree = sum(&reader);
    if (tree->kind == NODE_NAME && reader.current.kind == TOKEN_ASSIGN) {
        unsigned slot = tree->as.name.slot;
        advance(&reader);
        Node *of = sum(&reader);
        memory.values[slot] = value_of(of);
        memory.is_set[slot] = 1;
    }
    if (reader.current.kind != TOKEN_END) fail(&reader, "something follows the expression");
    if (depth) *depth = tree->depth;
    double result = value_of(tree);
    return errors ? 0 : result;
}
