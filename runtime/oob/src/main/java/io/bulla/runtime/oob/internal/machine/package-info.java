// SPDX-License-Identifier: Apache-2.0
/// What a node takes from the machine: time, chance and threads, and descriptors only while its loop has channels.
///
/// [Environment][io.bulla.runtime.oob.internal.machine.Environment] is any thread's;
/// [IdleReleasingIoHandler][io.bulla.runtime.oob.internal.machine.IdleReleasingIoHandler] is its own event loop's.
/// Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.machine;

import org.jspecify.annotations.NullMarked;
