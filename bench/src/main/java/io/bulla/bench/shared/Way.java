// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

/// How a message gets from one process to another of its host.
enum Way {
    /// A lease of a shared slab.
    SLAB,
    /// A sealed memory file's descriptor.
    SEAL,
    /// Its bytes over a unix socket, into memory that is used again.
    BYTES,
    /// None of it: the bytes are there, in a file that every receiver has mapped, and a word over a unix socket says
    /// so.
    THERE
}
