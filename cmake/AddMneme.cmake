include_guard(GLOBAL)

#[=======================================================================[.rst:
.. cmake:command:: add_mneme

  .. code-block:: cmake

    add_mneme(<target> [KERNELS <regex>] [NO_RECORD] [NO_AUTO_VAR_INIT])

  Make an existing target recordable: each kernel's LLVM IR is embedded in the device image and every launch goes through
  ``libmneme_rt``. Name every target that has kernels or launches; a program that only links such libraries needs not be
  named. CUDA and HIP as CMake languages are served, and C++ sources compiled with ``-x cuda`` or ``-x hip``, side by side
  with other languages in one target.

  ``<target>``
    Executable, shared, static, module or object library of this project, already created.
    Mandatory. No generator expressions.

  ``KERNELS <regex>``
    Only kernels in whose demangled name the expression is found, for example
    ``"stencil<double"``; others stay as they are, and neither a recording nor the CPU device has
    them. A POSIX extended regular expression (``llvm::Regex``); another is an error of the compiler.
    Default: every kernel. No generator expressions.

  ``NO_RECORD``
    Tuned kernels only: the target keeps the CUDA runtime it has (CMake's default is the static one),
    under which a program is tuned as ever but cannot be recorded. Default: recordable.

  ``NO_AUTO_VAR_INIT``
    Local variables of kernels that may be read before they are set stay unset
    (``-ftrivial-auto-var-init=uninitialized``). Default: these variables, and no others, are zero where
    their life begins, since a kernel that reads one gives other results with other pipelines: a replay
    would not agree with the recording, and most of what is tried would be rejected. ``-Rpass=mneme``
    names them. Where the project says ``-ftrivial-auto-var-init=…`` itself, that alone counts.

  **Effects.** PRIVATE compile options (``-fpass-plugin=…``, ``-fno-discard-value-names``, and types in debug information,
  which the passes remove unless the project asks for some) and a PRIVATE link to ``Mneme::mnemert``: who links the target
  gets none of it. Without ``NO_RECORD``, ``CUDA_RUNTIME_LIBRARY`` becomes ``Shared`` unless the target sets it, since the
  recorder places the memory of a program on a GPU only through the shared CUDA runtime; who links a static or object library
  links that runtime. With ``CUDA_SEPARABLE_COMPILATION``, clang compiles and links the device code (``-fgpu-rdc
  --offload-new-driver``, and ``--offload-link`` for who links the code, through static libraries too;
  ``--no-offload-new-driver`` among the project's flags has no say here); that property and
  ``CUDA_RESOLVE_DEVICE_SYMBOLS`` are turned off at the end of the directory, since CMake's own device link is made for
  nvcc's objects. A project that links such a static library needs ``find_package(mneme)`` there; with clang before 22, or
  architectures given as ``all`` or ``native``, the program needs device code of its own.

  C++ sources are left as they are where their compiler cannot load the passes (gcc, another major version of clang) and
  the target has CUDA or HIP sources too, compiled by the right clang: they must have no kernels and launches. There, who
  links a static or object library with ``CUDA_SEPARABLE_COMPILATION`` sets its ``LINKER_LANGUAGE`` to ``CUDA``. Called
  again in the same words, it changes nothing.

  With ``mneme-nvcc`` as the CUDA compiler, what it compiles is recordable already: the target gets the runtimes alone,
  ``CUDA_SEPARABLE_COMPILATION`` works as with nvcc, and there are no ``KERNELS`` and no ``NO_AUTO_VAR_INIT``.

  **Errors.** Unknown arguments, other ``KERNELS`` than in an earlier call, and a compiler that cannot load the passes
  (gcc, nvcc, another major version of clang): the message names the right one.
#]=======================================================================]
function(add_mneme target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_RECORD;NO_AUTO_VAR_INIT" "KERNELS" "")
  _mneme_check_arguments(add_mneme "${target}" "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}")
  _mneme_offer_cuda_driver_now()
  _mneme_instrument("${target}" "${arg_KERNELS}" "${arg_NO_AUTO_VAR_INIT}")
  get_target_property(runtimeLibrary ${target} CUDA_RUNTIME_LIBRARY)
  if(NOT arg_NO_RECORD AND NOT runtimeLibrary)
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
    get_target_property(kind ${target} TYPE)
    if(CMAKE_CUDA_COMPILER AND kind MATCHES "^(STATIC|OBJECT)_LIBRARY$")
      # A program that is not named would link CMake's default behind it, and need nothing of that.
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES -lcudart)
    endif()
  endif()
endfunction()

#[=======================================================================[.rst:
.. cmake:command:: mneme_apply_tuned

  .. code-block:: cmake

    mneme_apply_tuned(<target> <json>)

  Build the kernels of a target as a file of tuned kernels says, as far as an ahead-of-time build can,
  for sites where production runs compile nothing. The compiler warns, by kernel, of each choice that
  is left to runs with ``PROTEUS_TUNED_KERNELS`` and of kernels that changed since they were tuned
  (``-Wno-backend-plugin`` silences it). Elsewhere than in CMake:
  ``-fplugin=<libMnemePasses.so> -Xclang -mllvm -Xclang -mneme-tuned=<json>``.

  ``<target>``
    Given to :cmake:command:`add_mneme` or :cmake:command:`add_proteus` before. Mandatory. No
    generator expressions.

  ``<json>``
    What ``mneme deploy`` or ``mneme tune`` wrote (:doc:`/tuned-kernels`), relative to the current
    source directory. Mandatory. No generator expressions.

  What the file says of a kernel, ahead of time:

  ``LaunchBounds`` with ``TunedMaxThreads``, ``MinBlocksPerSM``; ``MaxRegisters``
    A limit of registers per thread (``.maxnreg``) which lets as many threads be resident. Unlike
    launch bounds it is right for every launch, so no launch can fail for it. One binary serves all:
    of several variants, the one that needs most registers counts. Not for AMD GPUs, nor where the
    source sets a minimum of blocks.

  ``Pipeline``
    Run on the kernel and what it reaches, as a tuned run does (the assembly is the same but for
    registers, specialised values and device variables, whose addresses a tuned run knows); other
    kernels of the unit keep the program's pipeline. If there are several variants, the one with the
    largest ``Weight`` counts, those tuned for this architecture first: every pipeline is right for
    every launch. A pipeline that this compiler does not know, or that crashes it, is reported, and the kernel
    is built with the program's own; so is a kernel that launches kernels itself. An endless pipeline
    is not noticed. With ``-foffload-lto``, what is linked is optimised again.

  ``SpecializeArgs``, ``SpecializeDims``, ``Launch``; another ``CodeGenOptLevel``; other variants
    Left to runs with ``PROTEUS_TUNED_KERNELS``: the level of code generation is that of the whole
    unit, and one pipeline serves all variants.

  another ``StaticHash``; what a tuned run would not use
    The kernel is built as it is. An entry or variant that makes no sense is told in the words of a
    tuned run.

  **Effects.** PRIVATE compile options, which name a copy of ``<json>`` in the build directory, so that
  the target is compiled again when the content changes, through compiler caches too. Under
  ``-Werror`` these warnings stay warnings. What is embedded for tuned runs and recordings stays as
  it was written.

  **Errors.** A file that is missing or malformed, and a second file for one target.
#]=======================================================================]
function(mneme_apply_tuned target json)
  _mneme_check_arguments(mneme_apply_tuned "${target}" "${ARGN}" "")
  get_target_property(isDevice ${target} MNEME_DEVICE_CONDITION)
  if(NOT isDevice)
    message(FATAL_ERROR "mneme_apply_tuned(${target}): call add_mneme(${target}) before")
  endif()
  get_filename_component(file "${json}" ABSOLUTE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "mneme_apply_tuned(${target}): there is no file '${file}'")
  endif()
  file(READ "${file}" content)
  string(JSON kind ERROR_VARIABLE problem TYPE "${content}")
  if(NOT kind STREQUAL "OBJECT")
    if(NOT problem)
      set(problem "it holds no JSON object")
    endif()
    string(REGEX REPLACE "[* \n]+" " " problem "${problem}")
    string(STRIP "${problem}" problem)
    message(FATAL_ERROR "mneme_apply_tuned(${target}): '${file}' is not a file of tuned kernels: " "${problem}")
  endif()
  _mneme_set_once(mneme_apply_tuned ${target} MNEME_TUNED "${file}" isNew)
  if(NOT isNew)
    return()
  endif()

  # The command line names the content: other content is another command for build tools and for
  # compiler caches, which know no file that only an option of the passes names.
  file(SHA256 "${file}" hash)
  get_filename_component(name "${file}" NAME)
  set(copy "${CMAKE_BINARY_DIR}/CMakeFiles/mneme_tuned/${hash}/${name}")
  configure_file("${file}" "${copy}" COPYONLY) # again when the file changes
  _mneme_pass_option(${target} "${isDevice}" "-mneme-tuned=${copy}")
  # Knobs that only tuned runs can apply cause a warning, which must not fail a build with -Werror.
  target_compile_options(${target} PRIVATE "$<${isDevice}:-Wno-error=backend-plugin>")
endfunction()

#[=======================================================================[.rst:
.. cmake:command:: add_proteus

  .. code-block:: cmake

    add_proteus(<target> [FORCE_JIT_ANNOTATE_ALL])

  What :cmake:command:`add_mneme(<target>) <add_mneme>` does, for projects written for the reference
  tools; they configure unchanged, as ``find_package(proteus CONFIG)`` is served by this package,
  whatever version they ask for. What the source marks as constant at run time is compiled then
  (:doc:`/jit`). Targets that link a library named here get the target ``proteus``: its headers
  and ``PROTEUS_ENABLE_CUDA`` or ``PROTEUS_ENABLE_HIP``.

  ``<target>``
    As for :cmake:command:`add_mneme`. Mandatory. No generator expressions.

  ``FORCE_JIT_ANNOTATE_ALL``
    Every kernel is compiled at run time for its launch dimensions, as if it had
    ``annotate("jit")``; marks of arguments in the source are dropped.
#]=======================================================================]
function(add_proteus target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FORCE_JIT_ANNOTATE_ALL" "" "")
  _mneme_check_arguments(add_proteus "${target}" "${arg_UNPARSED_ARGUMENTS}" "")
  _mneme_set_once(add_proteus ${target} MNEME_MARKS_ALL "${arg_FORCE_JIT_ANNOTATE_ALL}" isNew)
  add_mneme(${target})
  if(isNew)
    _mneme_link_frontend(${target})
  endif()
  if(isNew AND arg_FORCE_JIT_ANNOTATE_ALL)
    get_target_property(isDevice ${target} MNEME_DEVICE_CONDITION)
    _mneme_pass_option(${target} "${isDevice}" "-force-proteus-jit-annotate-all")
  endif()
endfunction()

# Fails with one sentence if a public function was not called as it is documented.
function(_mneme_check_arguments function target unknown valueless)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${function}: '${target}' is not a target")
  elseif(unknown)
    message(FATAL_ERROR "${function}(${target}): unknown arguments: ${unknown}")
  elseif(valueless)
    message(FATAL_ERROR "${function}(${target}): ${valueless} needs a value")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  get_target_property(isImported ${target} IMPORTED)
  get_target_property(kind ${target} TYPE)
  if(aliased)
    message(FATAL_ERROR "${function}: '${target}' is another name of '${aliased}'; name that one")
  elseif(isImported OR NOT kind MATCHES "^(EXECUTABLE|(SHARED|STATIC|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "${function}: '${target}' compiles nothing; name an executable or library of " "this project")
  endif()
endfunction()

# Stores a function's arguments in a property of the target. `isNew`: whether it is the first call.
# Fails if an earlier call had other arguments.
function(_mneme_set_once function target property value isNew)
  get_target_property(earlier ${target} ${property})
  if(earlier STREQUAL "earlier-NOTFOUND")
    set_target_properties(${target} PROPERTIES ${property} "${value}")
    set(${isNew} TRUE PARENT_SCOPE)
  elseif(earlier STREQUAL value)
    set(${isNew} FALSE PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${function}(${target}): called before with '${earlier}', now with '${value}'; "
      "a target has one")
  endif()
endfunction()

# Compile options and link requirements; `kernels` is a regular expression or empty, `leavesUnset`
# whether local variables stay unset where the source leaves them so.
function(_mneme_instrument target kernels leavesUnset)
  foreach(text IN ITEMS ";" "$<")
    string(FIND "${kernels}" "${text}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "add_mneme(${target}): no kernel has '${text}' in its name: KERNELS ${kernels}")
    endif()
  endforeach()
  set(locals "")
  if(leavesUnset)
    set(locals NO_AUTO_VAR_INIT)
  endif()
  _mneme_set_once(add_mneme ${target} MNEME_LOCALS "${locals}" isNew)
  _mneme_set_once(add_mneme ${target} MNEME_KERNELS "${kernels}" isNew)
  if(NOT isNew)
    return()
  endif()
  _mneme_instrumented_languages(${target} languages)
  set(isDevice "$<COMPILE_LANGUAGE:${languages}>")
  set_target_properties(${target} PROPERTIES MNEME_DEVICE_CONDITION "${isDevice}")
  target_compile_options(${target} PRIVATE
    "$<${isDevice}:-fpass-plugin=$<TARGET_FILE:Mneme::passes>>"
    "$<${isDevice}:-fno-discard-value-names>" # and types, which the plugin removes unless asked for
    "$<${isDevice}:SHELL:-Xclang -debug-info-kind=limited>")
  if(leavesUnset)
    _mneme_leave_locals(${target} "${isDevice}")
  endif()
  if(NOT kernels STREQUAL "")
    _mneme_pass_option(${target} "${isDevice}" "-mneme-kernels=${kernels}")
  endif()
  if(NOT CMAKE_CUDA_COMPILER MATCHES "/mneme-nvcc$") # which links device code as CMake has nvcc do it
    _mneme_link_relocatable(${target})
  endif()
  _mneme_link_runtime(${target})
  if(TARGET mneme_passes_ready) # mneme is part of the same build
    add_dependencies(${target} mneme_passes_ready)
  endif()
endfunction()

# Makes the passes leave uninitialised local variables alone, unless the project has its own
# setting. A setting that the target gets later follows on the command line and so takes precedence.
function(_mneme_leave_locals target condition)
  _mneme_refuse_options_for_nvcc(${target})
  get_target_property(said ${target} COMPILE_OPTIONS)
  string(APPEND said " ${CMAKE_CXX_FLAGS} ${CMAKE_CUDA_FLAGS} ${CMAKE_HIP_FLAGS}")
  if(NOT said MATCHES "-ftrivial-auto-var-init=")
    target_compile_options(${target} PRIVATE "$<${condition}:-ftrivial-auto-var-init=uninitialized>")
  endif()
endfunction()

# mneme-nvcc takes nvcc's options, among which there are none for the passes.
function(_mneme_refuse_options_for_nvcc target)
  if(CMAKE_CUDA_COMPILER_ID AND CMAKE_CUDA_COMPILER MATCHES "/mneme-nvcc$")
    get_target_property(rightCompiler Mneme::passes MNEME_CXX_COMPILER)
    message(FATAL_ERROR "add_mneme(${target}): KERNELS, NO_AUTO_VAR_INIT, FORCE_JIT_ANNOTATE_ALL and "
      "mneme_apply_tuned() are for clang: configure with -DCMAKE_CUDA_COMPILER=${rightCompiler}")
  endif()
endfunction()

# Gives an option to the passes where `condition` holds. The compiler alone gets it: what -mllvm says by
# itself goes to the linker of AMD GPUs too, which knows no plugin.
function(_mneme_pass_option target condition option)
  _mneme_refuse_options_for_nvcc(${target})
  string(REPLACE "\\" "\\\\" option "${option}")
  string(REPLACE "\"" "\\\"" option "${option}")
  string(REPLACE ">" "$<ANGLE-R>" option "${option}")
  string(REPLACE "," "$<COMMA>" option "${option}")
  # -fplugin loads the plugin before options are read, so that it knows its own.
  target_compile_options(${target} PRIVATE
    "$<${condition}:-fplugin=$<TARGET_FILE:Mneme::passes>>"
    "$<${condition}:SHELL:-Xclang -mllvm -Xclang \"${option}\">")
endfunction()

# target_link_libraries(PRIVATE) for targets of either of its signatures, which cannot be mixed.
function(_mneme_link_runtime target)
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES Mneme::mnemert)
  get_target_property(kind ${target} TYPE)
  if(kind MATCHES "^(STATIC|OBJECT)_LIBRARY$")
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:Mneme::mnemert>")
  endif()
endfunction()

# Links the library that makes kernels at run time; programs that make none do not load it. Targets that
# link a library get the headers too, as from the reference tool.
function(_mneme_link_frontend target)
  if(TARGET proteus)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES proteus)
    get_target_property(kind ${target} TYPE)
    if(NOT kind STREQUAL "EXECUTABLE")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES proteus)
    endif()
  endif()
endfunction()

# With CUDA_SEPARABLE_COMPILATION clang links the device code itself: CMake's own steps are made for
# the objects of nvcc and of older releases of clang.
function(_mneme_link_relocatable target)
  set_target_properties(${target} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
  # When the project has set all its properties.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _mneme_compile_relocatable [[${target}]])")
endfunction()

# Replaces the property by options, because CMake would run its own device link for a program that
# links a static library with the property.
function(_mneme_compile_relocatable target)
  get_target_property(isRelocatable ${target} CUDA_SEPARABLE_COMPILATION)
  if(isRelocatable)
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION OFF)
    # Only objects of clang's new offloading driver can be linked by --offload-link, whatever the
    # project's flags say.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-fgpu-rdc;--offload-new-driver>")
    get_target_property(kind ${target} TYPE)
    set(scope PRIVATE)
    if(kind MATCHES "^(STATIC|OBJECT)_LIBRARY$")
      set(scope INTERFACE) # a target that links the objects links their device code
    endif()
    target_link_options(${target} ${scope} -fgpu-rdc --offload-link)
    if(CMAKE_CUDA_COMPILER_TOOLKIT_ROOT)
      # A project that links the installed library brings a toolkit of its own.
      target_link_options(${target} ${scope} "$<BUILD_INTERFACE:--cuda-path=${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}>")
    endif()
    if(kind STREQUAL "STATIC_LIBRARY")
      _mneme_extract_device_code(${target})
    endif()
    _mneme_compiler_problem(CXX problem)
    get_target_property(linkerLanguage ${target} LINKER_LANGUAGE)
    if(problem AND NOT linkerLanguage)
      # CMake prefers the C++ compiler to link, which knows nothing of device code here.
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CUDA)
    endif()
  endif()
endfunction()

# clang takes device code out of archives for architectures that objects have, and for those that the
# link names, so that programs without device code of their own have that of the library.
function(_mneme_extract_device_code target)
  get_target_property(major Mneme::passes MNEME_LLVM_MAJOR)
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  list(TRANSFORM architectures REPLACE "-(real|virtual)$" "")
  if(major LESS 22 OR NOT architectures MATCHES "^[0-9]+[a-z]?(;[0-9]+[a-z]?)*$")
    _mneme_anchor_device_code(${target})
    return()
  endif()
  foreach(architecture IN LISTS architectures)
    target_link_options(${target} INTERFACE "LINKER:--should-extract=sm_${architecture}")
  endforeach()
endfunction()

# For a clang that knows no such option, and architectures that only CMake can name: an object with an
# empty image for each of the library. It is not exported.
function(_mneme_anchor_device_code target)
  set(source "${CMAKE_BINARY_DIR}/CMakeFiles/mneme_anchor.cu")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// No device code, for the architectures of a static library.\n")
  add_library(${target}_mneme_anchor OBJECT EXCLUDE_FROM_ALL "${source}")
  target_compile_options(${target}_mneme_anchor PRIVATE -fgpu-rdc --offload-new-driver)
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  set_target_properties(${target}_mneme_anchor PROPERTIES CUDA_ARCHITECTURES "${architectures}"
    POSITION_INDEPENDENT_CODE ON)
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    "$<BUILD_INTERFACE:$<TARGET_OBJECTS:${target}_mneme_anchor>>")
endfunction()

# The languages, with commas between, in which the target's kernels and launches can be. C++ is none
# of them where its compiler cannot load the passes and there is CUDA or HIP: such C++ stays as it is.
function(_mneme_instrumented_languages target result)
  set(languages CUDA,HIP)
  if(CMAKE_CUDA_COMPILER MATCHES "/mneme-nvcc$")
    set(languages HIP) # CUDA is instrumented by its compiler
  endif()
  foreach(language IN ITEMS CUDA HIP)
    _mneme_compiler_problem(${language} problem)
    if(problem)
      message(FATAL_ERROR "add_mneme(${target}): ${problem}")
    endif()
  endforeach()
  _mneme_compiler_problem(CXX problem)
  if(NOT problem)
    string(PREPEND languages CXX,)
  elseif(NOT CMAKE_CUDA_COMPILER_ID AND NOT CMAKE_HIP_COMPILER_ID)
    message(FATAL_ERROR "add_mneme(${target}): ${problem}")
  else()
    # When the project has set all its sources.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _mneme_check_device_sources [[${target}]] [[${problem}]])")
  endif()
  set(${result} "${languages}" PARENT_SCOPE)
endfunction()

# Fails with `problem`, that of the C++ compiler, if the target has C++ sources alone.
function(_mneme_check_device_sources target problem)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    _mneme_source_language(${target} "${source}" language)
    if(source MATCHES "\\$<" OR language MATCHES "^(CUDA|HIP)$")
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "add_mneme(${target}): ${problem}")
endfunction()

# The language of a target's source: what the project says, else what the name means.
function(_mneme_source_language target source result)
  get_target_property(directory ${target} SOURCE_DIR)
  get_filename_component(file "${source}" ABSOLUTE BASE_DIR "${directory}")
  get_source_file_property(language "${file}" TARGET_DIRECTORY ${target} LANGUAGE)
  if(NOT language)
    if(file MATCHES "\\.cu$")
      set(language CUDA)
    elseif(file MATCHES "\\.hip$")
      set(language HIP)
    elseif(file MATCHES "\\.(C|CPP|c\\+\\+|cc|cpp|cppm|cxx|ixx)$")
      set(language CXX)
    endif()
  endif()
  set(${result} "${language}" PARENT_SCOPE)
endfunction()

# A sentence with the name of the right compiler if that of a language cannot load the passes.
function(_mneme_compiler_problem language problem)
  set(${problem} "" PARENT_SCOPE)
  if(NOT CMAKE_${language}_COMPILER_ID OR CMAKE_${language}_COMPILER MATCHES "/mneme-nvcc$")
    return()
  endif()
  get_target_property(wantedMajor Mneme::passes MNEME_LLVM_MAJOR)
  get_target_property(rightCompiler Mneme::passes MNEME_CXX_COMPILER)
  set(found "${CMAKE_${language}_COMPILER_ID}")
  if(found STREQUAL "Clang")
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
    if(NOT major)
      execute_process(COMMAND "${CMAKE_${language}_COMPILER}" -dumpversion OUTPUT_VARIABLE major)
      string(REGEX MATCH "^[0-9]+" major "${major}")
    endif()
    get_target_property(wantedMaker Mneme::passes MNEME_LLVM_MAKER)
    _mneme_maker("${CMAKE_${language}_COMPILER}" maker release)
    if(major STREQUAL wantedMajor AND maker STREQUAL wantedMaker)
      return()
    endif()
    set(found "clang ${major}")
  endif()
  set(rocm "")
  if(maker STREQUAL "AMD")
    set(found "ROCm's own clang ${major}${release}")
    get_filename_component(root "${CMAKE_${language}_COMPILER}" REALPATH)
    if(root MATCHES "^(.*[^/])(/lib)?/llvm/bin/" AND NOT wantedMaker STREQUAL "AMD")
      string(REGEX REPLACE "(/lib)?/llvm/bin/.*" "" root "${root}")
      set(rocm ", with ROCM_PATH=${root} in the environment")
    endif()
  endif()
  set(${problem} "the ${language} compiler is ${found} (${CMAKE_${language}_COMPILER}); mneme's passes \
need clang ${wantedMajor}: configure with -DCMAKE_${language}_COMPILER=${rightCompiler}${rocm} (all options: \
mneme config cmake-args)" PARENT_SCOPE)
endfunction()

# Finds out whether a clang is AMD's, built between LLVM's releases, or a common one. Plugins built for one do
# not fit the other, even with the same version number. `release` names its ROCm release, if it prints one.
function(_mneme_maker compiler maker release)
  get_property(said GLOBAL PROPERTY "MNEME_SAID_BY_${compiler}")
  if(NOT said AND EXISTS "${compiler}")
    execute_process(COMMAND "${compiler}" --version OUTPUT_VARIABLE said ERROR_QUIET)
    set_property(GLOBAL PROPERTY "MNEME_SAID_BY_${compiler}" "${said}")
  endif()
  set(${maker} "" PARENT_SCOPE)
  set(${release} "" PARENT_SCOPE)
  if(said MATCHES "AMD clang version |^AMD AFAR ")
    set(${maker} AMD PARENT_SCOPE)
    if(said MATCHES " roc-([0-9.]+) ")
      set(${release} " of ROCm ${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()
