// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

/// Where a subscription is listed.
interface Owner {

    /// It has ended. Called twice sometimes.
    void onLeft();
}
