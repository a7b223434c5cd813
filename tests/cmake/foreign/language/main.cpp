bool staticUnit();
bool objectUnit();
bool rdcStaticUnit();

int main() { return staticUnit() && objectUnit() && rdcStaticUnit() ? 0 : 1; }
