// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

/// A process of Open MPI.
///
/// @param job its job
/// @param vpid its number in the job
public record Name(int job, int vpid) implements Composite {}
