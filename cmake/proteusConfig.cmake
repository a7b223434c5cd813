# find_package(proteus CONFIG), served by mneme: projects written for the reference tools configure
# as they are. add_proteus() makes kernels recordable and tunable, as add_mneme() does, and compiles
# what the source marks at run time. proteusFrontend is for programs that make kernels at run time.
find_package(mneme CONFIG QUIET PATHS "${CMAKE_CURRENT_LIST_DIR}/../mneme" NO_DEFAULT_PATH)
if(NOT mneme_FOUND)
  set(proteus_FOUND FALSE)
  set(proteus_NOT_FOUND_MESSAGE "${mneme_NOT_FOUND_MESSAGE}")
  return()
endif()
foreach(component IN LISTS proteus_FIND_COMPONENTS)
  set(proteus_${component}_FOUND FALSE)
  if(proteus_FIND_REQUIRED_${component})
    set(proteus_FOUND FALSE)
    set(proteus_NOT_FOUND_MESSAGE "mneme serves proteus without components, '${component}' among them")
  endif()
endforeach()

# The names that the reference tool's package gives its parts.
foreach(vendor IN ITEMS CUDA HIP)
  if(NOT DEFINED PROTEUS_ENABLE_${vendor})
    set(PROTEUS_ENABLE_${vendor} ON)
  endif()
endforeach()
set(PROTEUS_ENABLE_MPI OFF)
set(PROTEUS_ENABLE_MLIR OFF)
foreach(name IN ITEMS proteus proteusCore proteusFrontend)
  if(NOT TARGET ${name})
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
  endif()
endforeach()
if(TARGET Mneme::frontend)
  set_property(TARGET proteusFrontend APPEND PROPERTY INTERFACE_LINK_LIBRARIES Mneme::frontend)
  # Programs with marks alone do not load it.
  set_property(TARGET proteus APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    "-Wl,--push-state,--as-needed" "$<TARGET_FILE:Mneme::frontend>" "-Wl,--pop-state")
endif()
if(NOT TARGET proteus_cudart_builtins)
  add_library(proteus_cudart_builtins INTERFACE IMPORTED GLOBAL)
endif()
get_target_property(_mneme_passes Mneme::passes IMPORTED_LOCATION)
if(NOT TARGET ProteusPass AND _mneme_passes)
  add_library(ProteusPass SHARED IMPORTED GLOBAL)
  set_target_properties(ProteusPass PROPERTIES IMPORTED_LOCATION "${_mneme_passes}"
    INTERFACE_COMPILE_OPTIONS "-fpass-plugin=${_mneme_passes}")
endif()

#[=======================================================================[.rst:
.. cmake:command:: proteus_register_jit_pass_plugin

  .. code-block:: cmake

    proteus_register_jit_pass_plugin(<target> PIPELINE <pipeline> PLUGIN_TARGET <plugin>)
    proteus_register_jit_pass_plugin(<target> PIPELINE <pipeline> PLUGIN_PATH <file>)

  Accepted with a warning, after ``find_package(proteus)``: tuned kernels are compiled with LLVM's own
  passes, without plugins.
#]=======================================================================]
function(proteus_register_jit_pass_plugin target)
  message(WARNING "proteus_register_jit_pass_plugin(${target}): mneme runs no pass plugins on tuned "
    "kernels; they are compiled without")
endfunction()
