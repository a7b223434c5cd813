bool rdcUnit();

int main() { return rdcUnit() ? 0 : 1; }
