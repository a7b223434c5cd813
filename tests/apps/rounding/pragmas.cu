// Pragmas and attributes of single functions.
#include "pragma_kernels.cu"
#include "rounding.h"

#define RUN(kernel) launch(#kernel, kernel)

int main() {
  launch("contractOff", contractOff, 1.3f);
  launch("contractOn", contractOn, 1.3f);
  launch("contractFast", contractFast, 1.3f);
  launch("contractMixed", contractMixed, 1.3f);
  launch("contractMixed2", contractMixed2, 1.3f);
  RUN(twoSum);
  RUN(twoProd);
  RUN(reassociated);
  RUN(unoptimized);
  RUN(callsOptnone);
  RUN(callsVarious);
  RUN(callsPure);
  RUN(small);
}
