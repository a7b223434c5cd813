#include "runtime/compiler/amd/carried_ir.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <string>

#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/base/environment.h"

namespace mneme::compile {

void carryIrIfAsked(llvm::Module& module) {
  const char* asked = environmentValue(kCarryIrVariable);
  if (!asked || std::strcmp(asked, "1") != 0)
    return;
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  // Inline assembly, as variables of a module always get a section that is loaded.
  std::string text = std::string(".section ") + kCarriedIrSection + ",\"\",@progbits\n";
  constexpr size_t bytesPerLine = 64;
  for (size_t at = 0; at < bitcode.size(); ++at) {
    text += at % bytesPerLine == 0 ? "\n.byte " : ",";
    text += std::to_string(static_cast<unsigned char>(bitcode[at]));
  }
  module.appendModuleInlineAsm(text + "\n.text");
}

} // namespace mneme::compile
