// SPDX-License-Identifier: Apache-2.0
/// Ways beside a connection: long messages over a bulk line, and memory that nodes of one host lend each other.
///
/// The node's event loop's. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.bypass;

import org.jspecify.annotations.NullMarked;
