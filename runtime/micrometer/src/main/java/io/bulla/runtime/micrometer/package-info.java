// SPDX-License-Identifier: Apache-2.0
/// Bulla's counters as Micrometer's meters: each class is a `MeterBinder`.
///
/// - [BudgetMetrics][io.bulla.runtime.micrometer.BudgetMetrics]: bytes that a `MemoryBudget` has booked.
/// - [SourceMetrics][io.bulla.runtime.micrometer.SourceMetrics]: chunks of an `ArenaSource`.
/// - [PoolMetrics][io.bulla.runtime.micrometer.PoolMetrics]: slabs of a `SlabSource`, and what is in them. It alone
/// needs `pool`.
/// - [HandleMetrics][io.bulla.runtime.micrometer.HandleMetrics]: open handles, from a `LeaseTally` or a
///   `LeaseLedger`.
/// - [OobMetrics][io.bulla.runtime.micrometer.OobMetrics]: peers of an `OobNode`. It alone needs `runtime/oob`.
///
/// A meter is read when the registry asks, so nothing here costs a program anything between two scrapes. As usual
/// with Micrometer, a registry does not keep alive what its gauges read. OpenTelemetry gets the same meters through
/// Micrometer's own bridge.
@NullMarked
package io.bulla.runtime.micrometer;

import org.jspecify.annotations.NullMarked;
