// SPDX-License-Identifier: Apache-2.0
/// For the tests of those who use Bulla, and of Bulla itself.
///
/// - [NoOpenHandles][io.bulla.testkit.NoOpenHandles] is a JUnit extension: a test that leaves a handle open
///   fails.
/// - [PoisoningSource][io.bulla.testkit.PoisoningSource] overwrites what is given back, so that a stale read
///   shows.
/// - [StingySource][io.bulla.testkit.StingySource] runs out of memory when it is told to.
@NullMarked
package io.bulla.testkit;

import org.jspecify.annotations.NullMarked;
