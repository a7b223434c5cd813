bool appUnit();
bool sharedUnit();
bool staticUnit();
bool objectUnit();
bool rdcUnit();
bool cxxUnit();
extern "C" int all_of(const int* results, int count);

int main() {
  const int results[] = {appUnit(), sharedUnit(), staticUnit(), objectUnit(), rdcUnit(), cxxUnit()};
  return all_of(results, 6) ? 0 : 1;
}
