# mneme serves the interface, whatever release of the reference tools a project was written for.
set(PACKAGE_VERSION 0.1.0)
if(PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION "${PACKAGE_FIND_VERSION}")
endif()
set(PACKAGE_VERSION_COMPATIBLE TRUE)
set(PACKAGE_VERSION_EXACT TRUE)
