// SPDX-License-Identifier: Apache-2.0
/// Where bytes are: an immutable, ordered list of memory regions.
@SuppressWarnings("module") // the one that an export names is built later
module io.bulla.iovec {
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.iovec;
    exports io.bulla.iovec.internal to
            io.bulla.buffer;
}
