bool staticUnit();

int main() { return staticUnit() ? 0 : 1; }
