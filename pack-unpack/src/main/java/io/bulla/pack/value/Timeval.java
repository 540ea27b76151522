// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

/// `struct timeval`.
///
/// @param seconds since 1970
/// @param microseconds 0 to 999999
public record Timeval(long seconds, long microseconds) implements Composite {}
