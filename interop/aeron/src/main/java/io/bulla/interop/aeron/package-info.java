// SPDX-License-Identifier: Apache-2.0
/// Sealed buffers on Aeron's publications and subscriptions.
///
/// - [SealedOffer][io.bulla.interop.aeron.SealedOffer] gives a sealed buffer, of any number of regions, to a
///   publication: through a claim if it fits into one fragment, as vectors otherwise.
///   [OfferResult][io.bulla.interop.aeron.OfferResult] says what became of it.
/// - [SealedAssembler][io.bulla.interop.aeron.SealedAssembler] lands the fragments of a subscription in a
///   `MemorySource`, one copy each, and hands whole messages on as sealed buffers.
/// - [AeronLender][io.bulla.interop.aeron.AeronLender] and [AeronBorrower][io.bulla.interop.aeron.AeronBorrower] lend
///   buffers of shared slabs to another process of this host: the place goes over Aeron, the bytes stay where they
///   are.
/// - [AgronaAccess][io.bulla.interop.aeron.AgronaAccess] says what flag is missing, before Aeron fails for want
///   of it.
///
/// Aeron copies every message into its log, and a reader copies it out: these two copies are what its design
/// costs, and there are no others. A lent buffer is not copied.
@NullMarked
package io.bulla.interop.aeron;

import org.jspecify.annotations.NullMarked;
