// SPDX-License-Identifier: Apache-2.0
/// Where bytes are: an immutable, ordered list of memory regions.
module io.bulla.iovec {
    exports io.bulla.iovec;
}
