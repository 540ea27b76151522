// SPDX-License-Identifier: Apache-2.0
/// `bulla held`: who holds memory in another JVM.
@NullMarked
package io.bulla.cli.held;

import org.jspecify.annotations.NullMarked;
