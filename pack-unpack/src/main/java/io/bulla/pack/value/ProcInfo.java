// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import org.jspecify.annotations.Nullable;

/// Facts about a process. Its exit code is not sent.
///
/// @param proc which
/// @param host where it runs, or null
/// @param executable what it runs, or null
/// @param pid its number there
/// @param state its state
public record ProcInfo(
        Proc proc, @Nullable String host, @Nullable String executable, int pid, byte state) implements Composite {}
