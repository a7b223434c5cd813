bool sharedUnit();

int main() { return sharedUnit() ? 0 : 1; }
