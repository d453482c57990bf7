#===- unpack.py - Unpack a gzip file ---------------------------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# unpack.py IN.gz OUT. Test data that compresses forty times over is kept
# compressed, and the build need not depend on a gzip program.
#
#===------------------------------------------------------------------------===#

import gzip
import shutil
import sys

with gzip.open(sys.argv[1]) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target)
