// SPDX-License-Identifier: Apache-2.0
/// Cuts of a node are taken and restored.
///
/// A cut is taken on the node's event loop while the handlers' thread waits; a node is restored by the thread that
/// starts it, before it listens. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.cut;

import org.jspecify.annotations.NullMarked;
