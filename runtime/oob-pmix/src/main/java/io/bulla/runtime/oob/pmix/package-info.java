// SPDX-License-Identifier: Apache-2.0
/// Nodes that find each other through the PMIx server of their launcher: no peers file, no ports.
///
/// - [JobMembers][io.bulla.runtime.oob.pmix.JobMembers]: the nodes of a job, once they have met. Each publishes a
///   [Member][io.bulla.runtime.oob.pmix.Member] record and waits for all processes; processes that publish none are
///   no nodes. Nodes are numbered densely, in the order of their ranks.
/// - [PmixNodes][io.bulla.runtime.oob.pmix.PmixNodes]: a started node among them, and the way out.
/// - [MeetOptions][io.bulla.runtime.oob.pmix.MeetOptions]: where to listen, how long to wait, what to publish beside
///   the address.
///
/// What launchers do, and what is seen when a process dies: `docs/launchers.md`.
@NullMarked
package io.bulla.runtime.oob.pmix;

import org.jspecify.annotations.NullMarked;
