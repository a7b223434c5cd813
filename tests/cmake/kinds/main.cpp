bool appUnit();
bool sharedUnit();
bool staticUnit();
bool objectUnit();
bool rdcUnit();
bool rdcStaticUnit();
bool rdcObjectUnit();
bool cxxUnit();
extern "C" int all_of(const int* results, int count);

int main() {
  const int results[] = {appUnit(), sharedUnit(), staticUnit(), objectUnit(), rdcUnit(),
                         rdcStaticUnit(), rdcObjectUnit(), cxxUnit()};
  return all_of(results, 8) ? 0 : 1;
}
