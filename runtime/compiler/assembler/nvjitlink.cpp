// The assembler as a library: libnvJitLink, opened where it is installed.
#include <cstddef>

#include "runtime/compiler/assembler/assembler.h"
#include "runtime/compiler/assembler/usage.h"
#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kInputPtx = 2;
// A library has its functions under their plain names, under versioned ones, or both.
constexpr unsigned kNewestMinor = 9;

/// The functions of libnvJitLink we use, with the types its documentation gives them.
struct Functions {
  int (*create)(Handle*, uint32_t, const char* const*);
  int (*destroy)(Handle*);
  int (*addData)(Handle, int, const void*, size_t, const char*);
  int (*complete)(Handle);
  int (*cubinSize)(Handle, size_t*);
  int (*cubin)(Handle, void*);
  int (*errorLogSize)(Handle, size_t*);
  int (*errorLog)(Handle, char*);
  int (*infoLogSize)(Handle, size_t*);
  int (*infoLog)(Handle, char*);
  int (*version)(unsigned*, unsigned*);
};

void* findFunction(const DynamicLibrary& library, const std::string& name) {
  if (void* plain = library.findSymbol(name.c_str()))
    return plain;
  for (const unsigned major : {13u, 12u})
    for (unsigned minor = kNewestMinor + 1; minor-- > 0;) {
      const std::string versioned =
          "__" + name + "_" + std::to_string(major) + "_" + std::to_string(minor);
      if (void* function = library.findSymbol(versioned.c_str()))
        return function;
    }
  return library.symbol(name.c_str()); // its message names the library and the function
}

template <typename Function>
void resolve(const DynamicLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(findFunction(library, name));
}

Functions resolveAll(const DynamicLibrary& library) {
  Functions f = {};
  resolve(library, "nvJitLinkCreate", f.create);
  resolve(library, "nvJitLinkDestroy", f.destroy);
  resolve(library, "nvJitLinkAddData", f.addData);
  resolve(library, "nvJitLinkComplete", f.complete);
  resolve(library, "nvJitLinkGetLinkedCubinSize", f.cubinSize);
  resolve(library, "nvJitLinkGetLinkedCubin", f.cubin);
  resolve(library, "nvJitLinkGetErrorLogSize", f.errorLogSize);
  resolve(library, "nvJitLinkGetErrorLog", f.errorLog);
  resolve(library, "nvJitLinkGetInfoLogSize", f.infoLogSize);
  resolve(library, "nvJitLinkGetInfoLog", f.infoLog);
  resolve(library, "nvJitLinkVersion", f.version);
  return f;
}

/// One link; destroyed with the object.
class Link {
public:
  Link(const Functions& functions, const std::vector<std::string>& options) : f_(functions) {
    std::vector<const char*> texts;
    for (const std::string& option : options)
      texts.push_back(option.c_str());
    status_ = f_.create(&handle_, static_cast<uint32_t>(texts.size()), texts.data());
  }
  ~Link() {
    if (handle_)
      f_.destroy(&handle_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool addPtx(const std::string& ptx) {
    // The size counts the terminating zero.
    return status_ == kSuccess && (status_ = f_.addData(handle_, kInputPtx, ptx.c_str(),
                                                        ptx.size() + 1, "kernel")) == kSuccess;
  }
  bool complete() { return (status_ = f_.complete(handle_)) == kSuccess; }
  int status() const { return status_; }
  std::string cubin() const {
    size_t size = 0;
    if (f_.cubinSize(handle_, &size) != kSuccess)
      return {};
    std::string bytes(size, '\0');
    return f_.cubin(handle_, bytes.data()) == kSuccess ? bytes : std::string();
  }
  std::string errorLog() const { return log(f_.errorLogSize, f_.errorLog); }
  std::string infoLog() const { return log(f_.infoLogSize, f_.infoLog); }

private:
  std::string log(int (*sizeOf)(Handle, size_t*), int (*get)(Handle, char*)) const {
    size_t size = 0;
    if (!handle_ || sizeOf(handle_, &size) != kSuccess || size == 0)
      return {};
    std::string text(size, '\0');
    if (get(handle_, text.data()) != kSuccess)
      return {};
    return text.substr(0, text.find('\0'));
  }

  const Functions& f_;
  Handle handle_ = nullptr;
  int status_ = kSuccess;
};

class NvJitLink final : public Assembler {
public:
  explicit NvJitLink(const std::string& path)
      : library_(DynamicLibrary::open(path)), functions_(resolveAll(library_)) {
    if (functions_.version(&version_.major, &version_.minor) != kSuccess)
      throw Error(ErrorCode::BackendUnavailable, "'" + path + "' does not tell its version");
    version_.name =
        "nvJitLink " + std::to_string(version_.major) + "." + std::to_string(version_.minor);
  }

  const AssemblerVersion& version() const override { return version_; }

  Assembly assemble(const AssemblyRequest& request) const override {
    // "-O" of nvJitLink knows 0 and 3 only; its ptxas knows them all.
    std::vector<std::string> options = {"-arch=" + request.arch, "-no-cache", "-verbose",
                                        "-Xptxas=-v",
                                        "-Xptxas=-O" + std::to_string(request.optLevel)};
    if (request.maxRegisters != 0)
      options.push_back("-maxrregcount=" + std::to_string(request.maxRegisters));
    for (const std::string& option : request.options)
      options.push_back("-Xptxas=" + optionForTool(option));
    Link link(functions_, options);
    Assembly assembly;
    if (link.addPtx(request.ptx) && link.complete())
      assembly.cubin = link.cubin();
    if (assembly.cubin.empty())
      fail(link, request);
    assembly.usage = usageInMessages(link.infoLog(), request.kernel);
    addUsageInCubin(assembly.usage, assembly.cubin, request.kernel);
    return assembly;
  }

private:
  [[noreturn]] void fail(const Link& link, const AssemblyRequest& request) const {
    const std::string errors = firstErrors(link.errorLog());
    throw Error(ErrorCode::CompileFailed,
                "kernel '" + request.kernel + "' cannot be assembled for " + request.arch + " by " +
                    version_.name + ": " +
                    (errors.empty() ? "error " + std::to_string(link.status()) : errors));
  }

  DynamicLibrary library_;
  Functions functions_;
  AssemblerVersion version_;
};

} // namespace

std::shared_ptr<const Assembler> openNvJitLink(const std::string& path) {
  return std::make_shared<NvJitLink>(path);
}

} // namespace mneme::compile
