// SPDX-License-Identifier: Apache-2.0
/// Who holds memory, for who looks from outside: a console of JMX, or `bulla held PID`.
///
/// [HeldMXBean][io.bulla.refcount.held.HeldMXBean] says what can be asked, [Held][io.bulla.refcount.held.Held]
/// answers. Neither needs `java.management`, and nothing loads it before a console asks.
@NullMarked
package io.bulla.refcount.held;

import org.jspecify.annotations.NullMarked;
