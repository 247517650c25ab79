// SHOAL_HD marks the few functions that are compiled for the host and for the device alike.
#pragma once

#if defined(__CUDACC__)
#define SHOAL_HD __host__ __device__
#else
#define SHOAL_HD
#endif
