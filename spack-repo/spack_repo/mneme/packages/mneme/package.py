"""Spack recipe of mneme, for Spack 0.23 (package API v1) and newer (v2)."""

import os

_configuration = None
# From Spack 1.0 on, the build systems are part of the repository `builtin`, and Fortran is something
# to depend on. The configuration is not part of the package API: without, nothing is refused.
try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass
else:
    try:
        from spack.config import get as _configuration
    except ImportError:
        pass

from spack.package import *

# The sources this recipe came with.
_checkout = os.path.realpath(__file__).rsplit(os.sep, 6)[0]


def _hip_can_come(package, variant, values):
    """Refuse +rocm at once where hip is not an external and nothing can compile the Fortran in Spack's.

    The solver would search for minutes, and then name a hundred packages and not the reason.
    """
    if True in values and not _has_hip_or_fortran():
        raise InstallError(
            f"{package}+{variant}: Spack's hip is built with a Fortran compiler, and packages.yaml has"
            " none. Name one there, or the machine's ROCm as an external of hip. To name a gcc that"
            " Spack installed: spack compiler find $(spack location --install-dir gcc)"
        )


def _has_hip_or_fortran():
    """Whether packages.yaml has a hip, or what can compile one: Spack builds no compiler for this.

    This runs while Spack reads the recipe, so it asks for nothing that may read recipes. Spack's
    database does: what it answers may come from an index, which is built by reading every recipe.
    """
    if _configuration is None:
        return True
    packages = _configuration("packages") or {}
    if packages.get("hip", {}).get("externals"):
        return True
    externals = [one for entry in packages.values() for one in entry.get("externals") or []]
    languages = {
        language
        for one in externals
        for language in one.get("extra_attributes", {}).get("compilers", {})
    }
    # Without any compiler Spack looks for them by itself.
    return not languages or "fortran" in languages


class Mneme(CMakePackage):
    """Record a GPU kernel launch of a real application (code, memory, launch configuration),
    replay it alone, tune it on a GPU or on the CPU, and deploy the result."""

    homepage = f"file://{_checkout}/README.md"
    git = f"file://{_checkout}"
    # There is nothing to fetch from an unpacked archive: Spack then says what is below.
    manual_download = not os.path.exists(join_path(_checkout, ".git"))

    license("Apache-2.0 WITH LLVM-exception")
    test_requires_compiler = True

    version("main", branch="main")
    version("0.1.0", branch="main")

    # Sticky: a solver that finds too few Python packages would leave the command out without a word.
    variant(
        "python",
        default=True,
        sticky=True,
        description="The command mneme and the Python package",
    )
    # Off: Spack's recipes of llvmlite read LLVM 20 at most, and asking for one would choose the LLVM.
    variant("llvmlite", default=False, description="Look at the IR of kernels from Python")
    # Off: Spack builds fifty packages for Plotly, Rust's compiler among them.
    variant("plotly", default=False, description="Draw the figures of mneme report")
    variant("jit", default=True, description="Run tuned kernels in production programs")
    variant("tests", default=False, description="Build the unit tests")
    variant(
        "llvm",
        default="static",
        values=("shared", "static"),
        multi=False,
        description="How the compile library holds LLVM: inside and hidden, or as libLLVM.so",
    )
    # Both may be on: mneme itself links neither, it opens what the program it serves has.
    variant("cuda", default=False, description="Bring the CUDA toolkit, to build CUDA programs")
    variant(
        "rocm",
        default=False,
        description="Bring HIP, to build HIP programs",
        validator=_hip_can_come,
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    # The pass plugin is made for one LLVM; that LLVM's clang compiles the programs.
    depends_on("llvm@19:22 +clang +lld", type=("build", "link", "run"))
    depends_on("llvm +llvm_dylib", when="llvm=shared")
    requires("^llvm targets=nvptx", "^llvm targets=all", policy="any_of")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("boost@1.74: +context +pic")
    depends_on("nlohmann-json@3.11:")
    depends_on("cuda@12:", when="+cuda", type="run")
    if _has_hip_or_fortran():  # Spack checks what conditions name as well
        depends_on("hip@6:", when="+rocm", type="run")
        requires("^llvm targets=amdgpu", "^llvm targets=all", policy="any_of", when="+rocm")

    with when("+python"):
        extends("python")
        depends_on("python@3.10:", type=("build", "link", "run"))
        depends_on("py-pybind11@2.13:", type=("build", "link"))
        depends_on("py-typer@0.20:0.28", type="run")
        depends_on("py-rich@13:", type="run")
        depends_on("py-optuna@4.4:", type="run")
        depends_on("py-jinja2@3.1:", type="run")
        depends_on("py-pyyaml@6:", type="run")
        depends_on("py-plotly@6:", type="run", when="+plotly")
        # llvmlite reads the IR of LLVMs up to its own: 0.45 to 0.47 hold LLVM 20, 0.50 holds 22.
        depends_on("py-llvmlite@0.45:", type="run", when="+llvmlite")
        conflicts(
            "^py-llvmlite@:0.49",
            when="+llvmlite ^llvm@21:",
            msg="with LLVM 21 and newer mneme+llvmlite needs py-llvmlite 0.50 or newer",
        )

    # What the solver finds cheapest to break, and so says, also where no llvmlite fits the LLVM.
    conflicts(
        "+llvmlite",
        when="~python",
        msg="+llvmlite needs +python, and the py-llvmlite of its LLVM: 0.45 to 0.47 for LLVM 20,"
        " 0.50 for LLVM 21 and newer",
    )

    conflicts("+plotly", when="~python", msg="the command that draws reports comes with +python")

    with when("+tests"):
        depends_on("doctest", type="build")
        depends_on("py-lit@18:", type=("build", "run"))
        depends_on("py-pytest@8:", type=("build", "run"), when="+python")
        depends_on("py-hypothesis@6:", type=("build", "run"), when="+python")

    generator("ninja")

    @property
    def download_instr(self):
        """What to do where there is nothing to fetch."""
        return (
            f"'{_checkout}' is not a Git checkout, so there is nothing to fetch. Build the folder as it"
            " is, in an environment (spack env activate --create mneme-here): spack add mneme@main"
            f" && spack develop --path '{_checkout}' mneme@main && spack install"
        )

    def cmake_args(self):
        llvm = self.spec["llvm"]
        return [
            self.define("LLVM_INSTALL_DIR", llvm.prefix),
            self.define("LLVM_DIR", llvm.prefix.lib.cmake.llvm),
            self.define("MNEME_LINK_SHARED_LLVM", self.spec.satisfies("llvm=shared")),
            self.define("MNEME_SPACK_REPOSITORY", join_path(_checkout, "spack-repo")),
            self.define_from_variant("MNEME_ENABLE_PYTHON", "python"),
            self.define_from_variant("MNEME_ENABLE_JIT", "jit"),
            self.define_from_variant("MNEME_ENABLE_TESTS", "tests"),
        ]

    @run_after("install")
    def keep_smoke_test(self):
        cache_extra_test_sources(self, ["examples"])

    def _mneme(self, *arguments):
        """Output of the installed command."""
        if self.spec.satisfies("~python"):
            raise SkipTest("the command mneme comes with +python")
        command = Executable(self.prefix.bin.mneme)
        return command(*arguments, output=str.split, error=str.split)

    def test_version(self):
        """the command knows its version"""
        number = "" if self.spec.satisfies("@main") else str(self.spec.version.up_to(3))
        check_outputs([f"mneme {number}"], self._mneme("--version"))

    def test_devices(self):
        """the CPU device is there"""
        check_outputs(["cpu"], self._mneme("devices"))

    def test_doctor(self):
        """the command finds its compiler and libraries"""
        if "doctor" not in self._mneme("--help"):
            raise SkipTest("this version has no command doctor")
        check_outputs(["clang"], self._mneme("doctor"))

    def test_compiler(self):
        """mneme-cxx is the clang the pass plugin is made for"""
        compiler = Executable(join_path(self.prefix.bin, "mneme-cxx"))
        major = str(self.spec["llvm"].version.up_to(1))
        check_outputs([f"clang version {major}"], compiler("--version", output=str.split))

    def test_record_and_replay(self):
        """a CUDA program is built, recorded and replayed on the CPU device"""
        self._mneme("--version")
        if not os.environ.get("CUDA_HOME"):
            raise SkipTest("CUDA_HOME names no CUDA toolkit; install mneme +cuda")
        sources = join_path(self.test_suite.current_test_cache_dir, "examples")
        flags = [self._mneme("config", name).split() for name in ("cflags", "ldflags")]
        source = join_path(sources, "vector_add", "vector_add.cu")
        with test_part(self, "test_record_and_replay_build", purpose="build the program"):
            compiler = Executable(join_path(self.prefix.bin, "mneme-cxx"))
            compiler(
                "-O2", "-std=c++20", *flags[0], source, "-o", "vector_add", *flags[1], "-lcudart"
            )
        with test_part(self, "test_record_and_replay_record", purpose="record its kernel"):
            program = join_path(os.getcwd(), "vector_add")
            out = self._mneme("record", "-rdb", "recording", "--", program, "4096")
            check_outputs(["PASSED"], out)
        with test_part(self, "test_record_and_replay_replay", purpose="replay it alone"):
            out = self._mneme("replay", "-rdb", "recording", "--device", "cpu", "default<O3>")
            check_outputs(["verified: exact"], out)
