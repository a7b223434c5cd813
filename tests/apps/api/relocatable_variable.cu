// A unit of relocatable.cu with a variable and no kernel.
__device__ int onlyVariable = 77;
