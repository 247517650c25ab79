# cmake -DBINARY=<shoal_probe> -P self_contained.cmake: fails where the probe needs more than the C and C++
# run-time, or is too large to travel.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ldd ${BINARY} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${needed}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so")
    message(SEND_ERROR "needs more than the run-time: ${line}")
  endif()
endforeach()

file(SIZE ${BINARY} bytes)
if(bytes GREATER 10000000)
  message(SEND_ERROR "${bytes} bytes: more than 10 MB")
endif()
