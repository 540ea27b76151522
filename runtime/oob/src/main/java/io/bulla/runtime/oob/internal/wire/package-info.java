// SPDX-License-Identifier: Apache-2.0
/// What stands on a connection, byte by byte: the header of a [Frame][io.bulla.runtime.oob.internal.wire.Frame], the
/// [Hello][io.bulla.runtime.oob.internal.wire.Hello] that comes first, and the
/// [Refusal][io.bulla.runtime.oob.internal.wire.Refusal] in its place.
/// Reading checks everything that does not depend on a state; not exported.
@NullMarked
package io.bulla.runtime.oob.internal.wire;

import org.jspecify.annotations.NullMarked;
