# find_package(eitri CONFIG): the imported targets eitri::eitri (shared) and eitri::static. This file lies beside the
# folder `include`, with the libraries in `lib`, or where EITRI_LIBRARY_DIR says.
set(_eitri_root "${CMAKE_CURRENT_LIST_DIR}")
if(NOT EITRI_LIBRARY_DIR)
  set(EITRI_LIBRARY_DIR "${_eitri_root}/lib")
endif()

find_library(EITRI_SHARED NAMES eitri_c PATHS "${EITRI_LIBRARY_DIR}" NO_DEFAULT_PATH)
find_library(EITRI_STATIC NAMES libeitri_c.a PATHS "${EITRI_LIBRARY_DIR}" NO_DEFAULT_PATH)

if(EITRI_SHARED AND NOT TARGET eitri::eitri)
  add_library(eitri::eitri UNKNOWN IMPORTED)
  set_target_properties(eitri::eitri PROPERTIES
    IMPORTED_LOCATION "${EITRI_SHARED}"
    INTERFACE_INCLUDE_DIRECTORIES "${_eitri_root}/include")
endif()
if(EITRI_STATIC AND NOT TARGET eitri::static)
  find_package(Threads REQUIRED)
  add_library(eitri::static STATIC IMPORTED)
  set_target_properties(eitri::static PROPERTIES
    IMPORTED_LOCATION "${EITRI_STATIC}"
    INTERFACE_INCLUDE_DIRECTORIES "${_eitri_root}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
if(NOT TARGET eitri::eitri AND NOT TARGET eitri::static)
  set(eitri_FOUND FALSE)
  set(eitri_NOT_FOUND_MESSAGE "no libeitri_c in ${EITRI_LIBRARY_DIR}: cargo build --release -p eitri-c")
endif()
