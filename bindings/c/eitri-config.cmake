# find_package(eitri CONFIG): the imported targets eitri::eitri (shared) and eitri::static. This file lies beside the
# folder `include`, with the libraries in `lib` or where EITRI_LIBRARY_DIR says; or where `cargo cinstall` installs it, in
# `share/cmake/eitri`.
set(_eitri_root "${CMAKE_CURRENT_LIST_DIR}")
if(NOT EXISTS "${_eitri_root}/include/eitri.h")
  get_filename_component(_eitri_root "${_eitri_root}/../../.." ABSOLUTE)
endif()
if(EITRI_LIBRARY_DIR)
  set(_eitri_libraries "${EITRI_LIBRARY_DIR}")
else()
  set(_eitri_libraries "${_eitri_root}/lib" "${_eitri_root}/lib64" "${_eitri_root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()

find_library(EITRI_SHARED NAMES eitri_c PATHS ${_eitri_libraries} NO_DEFAULT_PATH)
find_library(EITRI_STATIC NAMES libeitri_c.a PATHS ${_eitri_libraries} NO_DEFAULT_PATH)

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
  set(eitri_NOT_FOUND_MESSAGE "no libeitri_c in ${_eitri_libraries}: cargo build --release -p eitri-c")
endif()
