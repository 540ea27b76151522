// SPDX-License-Identifier: Apache-2.0
/// Where bytes are: an immutable, ordered list of memory regions.
@SuppressWarnings("requires-automatic")
module io.bulla.iovec {
    requires static org.agrona;

    exports io.bulla.iovec;
}
