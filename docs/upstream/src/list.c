struct node { struct node *next; int value; };
int total(struct node *list) { int sum = 0; while (list) { sum += list->value; list = list->next; } return sum; }
int main(void) { struct node n = {0, 3}; return total(&n); }
