const char* said(void) { return "PASSED"; }
