// SPDX-License-Identifier: Apache-2.0
/// What readers of bytes and writers of them share: no user's.
@NullMarked
package io.bulla.iovec.internal;

import org.jspecify.annotations.NullMarked;
