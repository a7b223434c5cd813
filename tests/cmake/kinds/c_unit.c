int all_of(const int* results, int count) {
  for (int index = 0; index < count; ++index)
    if (!results[index])
      return 0;
  return 1;
}
