"""Spack recipe of an application made recordable with mneme; for Spack 0.23 and newer."""

import os

# From Spack 1.0 on, the build systems are part of the repository `builtin`.
try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass

from spack.package import *

# The sources this recipe came with.
_checkout = os.path.realpath(__file__).rsplit(os.sep, 6)[0]


class MnemeVectorAdd(CMakePackage):
    """The smallest application that uses mneme: find_package(mneme) and add_mneme(vector_add). A
    recipe to copy from for an application of your own."""

    homepage = f"file://{_checkout}/examples"
    git = f"file://{_checkout}"
    # There is nothing to fetch from an unpacked archive: Spack then says what is below.
    manual_download = not os.path.exists(join_path(_checkout, ".git"))
    root_cmakelists_dir = "examples"

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")
    version("0.1.0", branch="main")

    variant(
        "cuda_arch",
        default="90",
        values=("75", "80", "86", "89", "90", "100", "120"),
        multi=True,
        description="Compute capabilities to compile for",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cuda@12:", type=("build", "link", "run"))
    # What is linked is one small library of mneme; its command runs and records the application.
    depends_on("mneme@0.1.0: +python", type=("build", "link", "run"))

    generator("ninja")

    @property
    def download_instr(self):
        """What to do where there is nothing to fetch."""
        return (
            f"'{_checkout}' is not a Git checkout, so there is nothing to fetch. Build the folder as it"
            " is, in an environment (spack env activate --create mneme-here): spack add"
            f" mneme-vector-add@main && spack develop --path '{_checkout}' mneme-vector-add@main &&"
            " spack install"
        )

    def cmake_args(self):
        # The clang whose version the pass plugin has, which also finds the CUDA toolkit.
        compiler = join_path(self.spec["mneme"].prefix.bin, "mneme-cxx")
        return [
            self.define("CMAKE_CXX_COMPILER", compiler),
            self.define("CMAKE_CUDA_COMPILER", compiler),
            self.define_from_variant("CMAKE_CUDA_ARCHITECTURES", "cuda_arch"),
        ]

    @property
    def build_targets(self):
        return ["vector_add"]

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        install(join_path(self.build_directory, "vector_add"), prefix.bin)

    def _run(self, *arguments):
        mneme = Executable(self.spec["mneme"].prefix.bin.mneme)
        program = join_path(self.prefix.bin, "vector_add")
        return mneme(*arguments, "--", program, "4096", output=str.split, error=str.split)

    def test_run(self):
        """the application computes what it should on the CPU device"""
        check_outputs(["PASSED"], self._run("run", "--device", "cpu"))

    def test_record(self):
        """its kernel is recorded"""
        check_outputs(["PASSED", "recorded 1 instance"], self._run("record", "-rdb", "recording"))
