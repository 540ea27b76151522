// SPDX-License-Identifier: Apache-2.0
/// The words of the protocol, which know no value of the API: header, hello, commands, and values that borrow nothing
/// of a message. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.wire;

import org.jspecify.annotations.NullMarked;
