#include "runtime/compiler/module/loader.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/compiler/module/newer_text.h"
#include "runtime/compiler/reflect.h"

namespace mneme::compile {
namespace {

bool isBitcode(llvm::StringRef bytes) {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  return llvm::isBitcode(begin, begin + bytes.size());
}

/// What is known of who wrote text that this LLVM does not read, for messages.
std::string writerIn(llvm::StringRef text) {
  // MLIR's name for what it translates.
  return text.contains("source_filename = \"LLVMDialectModule\"")
             ? " that the LLVM " + std::to_string(LLVM_VERSION_MAJOR) +
                   " that compiles here can read (the LLVM in the program's own compiler, as "
                   "Triton's, wrote it)"
             : "";
}

std::unique_ptr<llvm::Module> parseText(llvm::StringRef text, const std::string& name,
                                        llvm::LLVMContext& context) {
  // The parser relies on a terminating zero byte.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, name);
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(buffer->getMemBufferRef(), diagnostic, context);
  if (!module) {
    const std::string older = withOlderFloats(text);
    if (older != text)
      return parseText(older, name, context);
  }
  if (!module)
    throw Error(ErrorCode::ArtifactCorrupt, name + " is not LLVM IR" + writerIn(text) + ": line " +
                                                std::to_string(diagnostic.getLineNo()) + ": " +
                                                diagnostic.getMessage().str());
  return module;
}

/// Major version of the LLVM that wrote bitcode; 0 if it does not say.
unsigned writerOf(llvm::MemoryBufferRef bitcode) {
  llvm::Expected<std::string> producer = llvm::getBitcodeProducerString(bitcode);
  if (!producer) {
    llvm::consumeError(producer.takeError());
    return 0;
  }
  llvm::StringRef text = *producer;
  unsigned major = 0;
  if (!text.consume_front("LLVM") || text.consumeInteger(10, major))
    return 0;
  return major;
}

std::unique_ptr<llvm::Module> parseBitcode(llvm::StringRef content, const std::string& name,
                                           llvm::LLVMContext& context) {
  const llvm::MemoryBufferRef buffer(content, name);
  auto module = llvm::parseBitcodeFile(buffer, context);
  if (module)
    return std::move(*module);
  // LLVM reads what older versions wrote, not what newer ones did.
  if (const unsigned writer = writerOf(buffer); writer > LLVM_VERSION_MAJOR) {
    llvm::consumeError(module.takeError());
    const std::string version = std::to_string(writer);
    throw Error(ErrorCode::Unsupported,
                name + " was written by LLVM " + version + ", which the LLVM " +
                    std::to_string(LLVM_VERSION_MAJOR) +
                    " that compiles here cannot read; compile with LLVM " + version +
                    " or newer, or record the program built with clang " +
                    std::to_string(LLVM_VERSION_MAJOR));
  }
  orThrow(module.takeError(), ErrorCode::ArtifactCorrupt, name + " is damaged LLVM bitcode");
  return nullptr;
}

bool looksLikeText(llvm::StringRef bytes) {
  return !bytes.empty() && bytes.take_front(4096).find('\0') == llvm::StringRef::npos;
}

void verifyLoaded(llvm::Module& module, const std::string& name) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  bool hasBrokenDebugInfo = false;
  if (llvm::verifyModule(module, &stream, &hasBrokenDebugInfo))
    throw Error(ErrorCode::ArtifactCorrupt, name + " is not valid LLVM IR: " + message);
  if (hasBrokenDebugInfo)
    llvm::StripDebugInfo(module);
}

void keepForeignCalls(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (function.isDeclarationForLinker() ? !function.isIntrinsic() : function.isInterposable())
      for (llvm::User* user : function.users())
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
          call->setIsNoInline();
}

/// Data in front of functions means nothing on a device, and its references to globals would
/// outlive them.
void dropFunctionData(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.setPrefixData(nullptr);
    function.setPrologueData(nullptr);
    if (function.isDeclaration())
      function.setPersonalityFn(nullptr);
  }
}

} // namespace

std::unique_ptr<llvm::Module> loadModule(mneme_bytes bytes, const std::string& name,
                                         llvm::LLVMContext& context, Diagnostics& diagnostics) {
  const llvm::StringRef content(static_cast<const char*>(bytes.data), bytes.size);
  std::unique_ptr<llvm::Module> module;
  if (isBitcode(content))
    module = parseBitcode(content, name, context);
  else if (looksLikeText(content))
    module = parseText(content, name, context);
  else
    throw Error(ErrorCode::ArtifactCorrupt, name + " is neither LLVM bitcode nor textual IR");
  diagnostics.throwIfErrors(ErrorCode::ArtifactCorrupt, name + " is not valid LLVM IR");
  verifyLoaded(*module, name);
  return module;
}

std::vector<std::unique_ptr<llvm::Module>> loadAll(const mneme_bytes* modules, size_t count,
                                                   llvm::LLVMContext& context,
                                                   Diagnostics& diagnostics) {
  if (count == 0)
    throw Error(ErrorCode::InvalidArgument, "the compile request holds no module");
  std::vector<std::unique_ptr<llvm::Module>> all;
  for (size_t index = 0; index < count; ++index)
    all.push_back(
        loadModule(modules[index], "module " + std::to_string(index), context, diagnostics));
  return all;
}

std::unique_ptr<llvm::Module> link(std::vector<std::unique_ptr<llvm::Module>> modules,
                                   Diagnostics& diagnostics, bool keepsUnitsApart) {
  std::unique_ptr<llvm::Module> linked = std::move(modules.front());
  if (keepsUnitsApart)
    keepForeignCalls(*linked);
  llvm::Linker linker(*linked);
  for (size_t index = 1; index < modules.size(); ++index) {
    if (keepsUnitsApart)
      keepForeignCalls(*modules[index]);
    answerBeforeLinking(*linked, *modules[index]);
    if (linker.linkInModule(std::move(modules[index])))
      throw Error(ErrorCode::CompileFailed, "cannot link module " + std::to_string(index) +
                                                " with those before it: " + diagnostics.errors());
  }
  dropFunctionData(*linked);
  linked->setModuleIdentifier("mneme");
  linked->setSourceFileName("mneme");
  return linked;
}

llvm::Function& findKernel(llvm::Module& module, const std::string& name) {
  llvm::Function* kernel = module.getFunction(name);
  if (kernel && !kernel->isDeclaration())
    return *kernel;
  std::string others;
  for (const llvm::Function& function : module) {
    const auto convention = function.getCallingConv();
    if (function.isDeclaration() || (convention != llvm::CallingConv::PTX_Kernel &&
                                     convention != llvm::CallingConv::AMDGPU_KERNEL))
      continue;
    others += (others.empty() ? "" : ", ") + ("'" + function.getName().str() + "'");
  }
  throw Error(ErrorCode::NotFound,
              "the IR has no kernel '" + name + "'" + (others.empty() ? "" : "; it has " + others));
}

} // namespace mneme::compile
