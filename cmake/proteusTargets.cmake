# The parts of the reference tool's package, by the names it gives them. A part of proteusConfig.cmake.
if(TARGET proteus) # another directory has asked for the package
  return()
endif()
foreach(name IN ITEMS proteus proteusCore proteusFrontend)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES Mneme::mnemert)
  # What sources ask for; a unit is for one vendor.
  if(PROTEUS_ENABLE_CUDA AND PROTEUS_ENABLE_HIP)
    set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS
      "PROTEUS_ENABLE_$<IF:$<COMPILE_LANGUAGE:HIP>,HIP,CUDA>")
  elseif(PROTEUS_ENABLE_CUDA)
    set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_CUDA)
  elseif(PROTEUS_ENABLE_HIP)
    set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_HIP)
  endif()
  if(PROTEUS_ENABLE_MLIR)
    set_property(TARGET ${name} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_MLIR)
  endif()
endforeach()
if(PROTEUS_ENABLE_MPI)
  set_property(TARGET proteus APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_MPI)
endif()
if(TARGET Mneme::frontend)
  set_property(TARGET proteusFrontend APPEND PROPERTY INTERFACE_LINK_LIBRARIES Mneme::frontend)
  # Programs with marks alone do not load it.
  set_property(TARGET proteus APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    "-Wl,--push-state,--as-needed" "$<TARGET_FILE:Mneme::frontend>" "-Wl,--pop-state")
endif()
if(LLVM_INCLUDE_DIRS)
  set_target_properties(proteusCore PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LLVM_INCLUDE_DIRS}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LLVM_INCLUDE_DIRS}")
endif()
add_library(proteus_cudart_builtins INTERFACE IMPORTED GLOBAL)
# What links device code for AMD GPUs may load the passes too; they have nothing to do there.
get_target_property(_mneme_passes Mneme::passes IMPORTED_LOCATION)
get_target_property(_mneme_aliased Mneme::passes ALIASED_TARGET)
foreach(name IN ITEMS ProteusPass ProteusPassOffload)
  if(_mneme_passes)
    # Targets link the plugin for its compile options only. Programs must not link the plugin itself,
    # which needs LLVM. An imported program with exports has a file and adds nothing to the link.
    add_executable(${name} IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${_mneme_passes}" ENABLE_EXPORTS ON)
  elseif(_mneme_aliased) # mneme is part of this build
    add_library(${name} ALIAS ${_mneme_aliased})
  endif()
endforeach()
if(_mneme_passes)
  set_target_properties(ProteusPass PROPERTIES
    INTERFACE_COMPILE_OPTIONS "-fpass-plugin=${_mneme_passes}")
endif()
unset(_mneme_passes)
unset(_mneme_aliased)
