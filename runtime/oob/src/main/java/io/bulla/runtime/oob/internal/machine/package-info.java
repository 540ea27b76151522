// SPDX-License-Identifier: Apache-2.0
/// What a node takes from the machine: time, chance and threads, and descriptors only while its loop has channels.
///
/// [Surroundings][io.bulla.runtime.oob.internal.machine.Surroundings] is any thread's;
/// [RestingIo][io.bulla.runtime.oob.internal.machine.RestingIo] is its own event loop's. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.machine;

import org.jspecify.annotations.NullMarked;
