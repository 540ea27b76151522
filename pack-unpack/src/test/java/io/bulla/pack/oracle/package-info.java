// SPDX-License-Identifier: Apache-2.0
/// The C libraries as oracles: random items, packed and unpacked by Java and by C, must agree in bytes and values.
///
/// - [Oracle] is the program; `./check oracle` starts it once per format and mode, each in a JVM of its own.
/// - [RandomItems] makes the items of a case out of a seed and the number of the case.
/// - [JavaLibrary] is the side under test; [Pmix] and [OpalDss] are the oracles, called through FFM.
/// - [CValues] puts a Java value where C wants it, and takes it back; [CMemory] is the memory between both.
/// - [Expected] says what a value is after a trip, where a format or a known defect changes it.
///
/// Only well-formed bytes are fed to C: it reads past its buffer on others. No test of Surefire's: it needs libraries
/// that a build must not need.
package io.bulla.pack.oracle;
