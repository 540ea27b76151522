// SPDX-License-Identifier: Apache-2.0
/// Tools for the tests of programs that use Bulla, and for its own.
///
/// - [NoOpenHandles][io.bulla.testkit.NoOpenHandles] is a JUnit extension: a test that leaves a handle open
///   fails.
/// - [PoisoningSource][io.bulla.testkit.PoisoningSource] overwrites what is given back, so that a stale read
///   shows.
/// - [FaultRun][io.bulla.testkit.FaultRun] runs an operation while its first, second, n-th foreign call fails, and
///   looks at every [Promise][io.bulla.testkit.Promise] after each step. [FaultScene][io.bulla.testkit.FaultScene] is
///   the world of a step, [FaultPoints][io.bulla.testkit.FaultPoints] counts the calls,
///   [FaultySource][io.bulla.testkit.FaultySource] and [FaultyTrace][io.bulla.testkit.FaultyTrace] make them, and a
///   [FaultReport][io.bulla.testkit.FaultReport] lists each [Violation][io.bulla.testkit.Violation].
/// - [StingySource][io.bulla.testkit.StingySource] runs out of memory when it is told to.
@NullMarked
package io.bulla.testkit;

import org.jspecify.annotations.NullMarked;
