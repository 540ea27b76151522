// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

/// A region of a source of Bulla's own, which keeps the contract of regions by itself: a builder does not pay for
/// what cannot be.
public interface TrustedRegion {}
