// SPDX-License-Identifier: Apache-2.0
/// A client of the PMIx server that a launcher runs for its job.
///
/// - [PmixEnvironment][io.bulla.runtime.pmix.PmixEnvironment]: what the launcher told this process, or why it did
///   not; [PmixServer][io.bulla.runtime.pmix.PmixServer] is where the server listens.
/// - [PmixClient][io.bulla.runtime.pmix.PmixClient]: joins the job; puts, commits, fences, gets, publishes, hears of
///   events, aborts, leaves. [PmixOptions][io.bulla.runtime.pmix.PmixOptions] bound what it waits for and takes.
/// - [PmixValue][io.bulla.runtime.pmix.PmixValue]: a typed value, in a [PmixScope][io.bulla.runtime.pmix.PmixScope]
///   or published in a [PmixRange][io.bulla.runtime.pmix.PmixRange] for a
///   [PmixPersistence][io.bulla.runtime.pmix.PmixPersistence]; a lookup finds a
///   [PmixPublished][io.bulla.runtime.pmix.PmixPublished].
/// - [PmixEvent][io.bulla.runtime.pmix.PmixEvent]: what the server tells unasked.
/// - [PmixException][io.bulla.runtime.pmix.PmixException] with a [PmixStatus][io.bulla.runtime.pmix.PmixStatus];
///   [PmixTimeoutException][io.bulla.runtime.pmix.PmixTimeoutException] is this client's own,
///   [PmixPartialException][io.bulla.runtime.pmix.PmixPartialException] a fence without all of its members.
///
/// Inside, from the top to the bottom: `internal.job` asks, `internal.events` hears, `internal.session` is the
/// connection with its calls, `internal.message` packs requests and reads answers, `internal.wire` has the protocol's
/// words. What was said stays packed as it came. Nothing here is native, and only `pack-unpack` is needed. Not done,
/// by decision: spawn, connect, groups, forwarded output, fabrics, tools, a server.
@NullMarked
package io.bulla.runtime.pmix;

import org.jspecify.annotations.NullMarked;
