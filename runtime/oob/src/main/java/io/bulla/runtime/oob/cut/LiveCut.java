// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.cut;

import java.util.concurrent.CompletionStage;

/// A cut of a node that goes on meanwhile. Cuts of all nodes fit together if each node takes its own after all
/// are [#ready()], and ends it after all have taken theirs:
///
/// ```
///                  ready                      taken                          ended
///  messages        as ever                    those with a number go on,     as ever
///                                             the others wait for one
///  acknowledged    what has arrived           what had arrived at the cut    what has arrived
///  broadcasts      the node's own wait: it is ready when none is on its way; what waits is in the cut
/// ```
///
/// No message is in the receiver's past and not in the sender's: what is sent behind a cut has no number before
/// all cuts are taken. And none is missing from both: what the sender knows to have arrived, arrived before the
/// receiver's cut. Handlers run, but for the moment of the cut; credit and signs of life flow.
public interface LiveCut {

    /// Whether no broadcast is on its way here.
    ///
    /// @return completes then, on the event loop; exceptionally if it is over before, or another cut is being
    ///     taken: then this one has not begun
    CompletionStage<Void> ready();

    /// Takes the cut between two handlers, once; as [OobNode#cut][io.bulla.runtime.oob.OobNode#cut], but before the
    /// messages that wait for theirs.
    ///
    /// @param between runs on the handlers' thread right before, to save what belongs to the program
    /// @return completes with a cut, which the caller closes, on the event loop. Fails with what `between`
    ///     throws; with an [IllegalStateException] if it is over, or a broadcast is on its way
    CompletionStage<NodeCut> take(Runnable between);

    /// Ends it: what waits goes on. For all nodes have their cuts; or because there will be none. Again is
    /// harmless.
    void end();

    /// Whether it was ended.
    ///
    /// @return completes on the event loop, if [#end()] was called and nothing was wrong until then;
    ///     exceptionally with an [IllegalStateException] if the time was over before, a peer failed, or the node
    ///     was closed: a cut that was taken fits no other then, and what waited goes on
    CompletionStage<Void> over();
}
