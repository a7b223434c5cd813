// Interface between the translation units and the shared library of this example.
#pragma once

/// Multiplies n device values by `factor`; defined in scale.cu, a second translation unit.
void scaleOnDevice(float* values, int n, float factor);

/// Adds i * slope to device value i; defined in the shared library libramp (ramp.cu).
extern "C" void rampOnDevice(float* values, int n, float slope);
