// SPDX-License-Identifier: Apache-2.0
/// Where bytes are: an immutable, ordered list of memory regions.
module io.bulla.iovec {
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.iovec;
}
