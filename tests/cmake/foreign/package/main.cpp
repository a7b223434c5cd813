bool cxxUnit();

int main() { return cxxUnit() ? 0 : 1; }
