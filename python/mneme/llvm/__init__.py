"""llvmlite's binding of LLVM under the names that existing scripts import: `mneme.llvm.module`, ...

Every module of `llvmlite.binding` is here; `mneme.llvm.initfini` adds what newer releases dropped.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

from llvmlite import binding
from llvmlite.binding import *  # noqa: F403 - the names of the binding, whatever they are

from mneme.llvm import initfini
from mneme.llvm.initfini import initialize, shutdown

__all__ = ["initfini", "initialize", "shutdown"]
__all__ += [name for name in vars(binding) if not name.startswith("_")]

# Modules that are not defined here come from llvmlite's binding of LLVM.
_names = [one.name for one in pkgutil.iter_modules(binding.__path__) if not one.ispkg]
for _name in [one for one in _names if not one.startswith("lib") and one != "initfini"]:
    _found = import_module(f"llvmlite.binding.{_name}")
    sys.modules[f"{__name__}.{_name}"] = _found
    globals().setdefault(_name, _found)
