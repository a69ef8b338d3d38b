/* Heat in a plate, step by step, and particles that drift in it. */
#define ROWS 32
#define COLUMNS 48
typedef float Row[COLUMNS];
typedef struct Vector { float x, y; } Vector;
typedef struct { Vector at, speed; float heat; unsigned short id; _Bool is_gone; } Particle;
typedef struct Plate { Row cells[2][ROWS]; volatile int now; const float conductivity; } Plate;
typedef enum Edge { EDGE_COLD, EDGE_WARM, EDGE_OPEN } Edge;
typedef struct { Edge edges[4]; float heat[4]; int (*is_source)(int row, int column); } Borders;

static inline Vector plus(Vector a, Vector b) { return (Vector){ a.x + b.x, a.y + b.y }; }
static inline Vector times(Vector a, float by) { return (Vector){ a.x * by, a.y * by }; }
static inline float clamped(float value, float least, float most) {
    return value < least ? least : value > most ? most : value;
}
static inline int wrapped(int index, int count) { return index < 0 ? index + count : index >= count ? index - count : index; }

static float at(const Plate *plate, const Borders *borders, int row, int column) {
    int edge = row < 0 ? 0 : row >= ROWS ? 1 : column < 0 ? 2 : column >= COLUMNS ? 3 : -1;
    if (edge >= 0) {
        Edge kind = borders->edges[edge];
        if (kind == EDGE_OPEN) {
            int near_row = wrapped(row, ROWS), near_column = wrapped(column, COLUMNS);
            return plate->cells[plate->now][near_row][near_column];
        }
        float heat = borders->heat[edge];
        return kind == EDGE_COLD ? -heat : heat;
    }
    return plate->cells[plate->now][row][column];
}

void step(Plate *restrict plate, const Borders *restrict borders, float seconds) {
    int next = 1 - plate->now;
    float rate = clamped(plate->conductivity * seconds, 0.0f, 0.25f);
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            float here = at(plate, borders, row, column);
            float around = 0;
            for (int side = 0; side < 4; side++) {
                int down = (side == 1) - (side == 0), right = (side == 3) - (side == 2);
                around += at(plate, borders, row + down, column + right) - here;
            }
            if (borders->is_source && borders->is_source(row, column)) around += 1;
            plate->cells[next][row][column] = here + rate * around;
        }
    }
    plate->now = next;
}

static Vector gradient(const Plate *plate, const Borders *borders, Vector where) {
    int row = (int)clamped(where.y, 0, ROWS - 1), column = (int)clamped(where.x, 0, COLUMNS - 1);
    float right = at(plate, borders, row, column + 1) - at(plate, borders, row, column - 1);
    float down = at(plate, borders, row + 1, column) - at(plate, borders, row - 1, column);
    Vector result = { right, down };
    return times(result, 0.5f);
}

int drift(Particle *particles, int count, const Plate *plate, const Borders *borders, float seconds) {
    int gone = 0;
    for (Particle *particle = particles; particle < particles + count; particle++) {
        if (particle->is_gone) { gone++; continue; }
        Vector force = gradient(plate, borders, particle->at);
        {
            Vector speed = plus(particle->speed, times(force, seconds));
            Vector place = plus(particle->at, times(speed, seconds));
            particle->speed = speed;
            particle->at = place;
        }
        float x = particle->at.x, y = particle->at.y;
        particle->is_gone = x < 0 || y < 0 || x >= COLUMNS || y >= ROWS;
        if (!particle->is_gone) {
            float heat = at(plate, borders, (int)y, (int)x);
            particle->heat += (heat - particle->heat) * clamped(seconds, 0, 1);
        }
    }
    return gone;
}

float total(const Plate *plate) {
    double sum = 0;
    const Row *row = plate->cells[plate->now];
    for (const Row *end = row + ROWS; row < end; row++)
        for (int i = 0; i < COLUMNS; i++) sum += (*row)[i];
    return (float)sum;
}

static void sort(Particle *particles, long count) {
    for (long i = 1; i < count; i++) {
        Particle moving = particles[i];
        long j = i;
        for (; j > 0 && particles[j - 1].heat < moving.heat; j--) particles[j] = particles[j - 1];
        particles[j] = moving;
    }
}

float hottest(Particle *particles, long count, long want) {
    float sum = 0;
    sort(particles, count);
    for (long i = 0; i < want && i < count; i++) {
        const Particle *one = &particles[i];
        sum += one->heat;
    }
    return want ? sum / (float)want : 0;
}
