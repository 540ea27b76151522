// SPDX-License-Identifier: Apache-2.0
/// Programs that are measured, each in a JVM of its own; goals name them.
package io.bulla.bench.programs;
