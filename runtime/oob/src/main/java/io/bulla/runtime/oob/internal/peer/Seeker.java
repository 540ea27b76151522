// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

/// Finds the peer, as what sends and receives needs it. On the loop.
interface Seeker {

    /// There is something for a peer that is not connected.
    void seek();

    /// A message has got somewhere: the connection works.
    void onProgress();
}
