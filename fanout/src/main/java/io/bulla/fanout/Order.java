// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import org.jspecify.annotations.Nullable;

/// The order of publishing, as a subscription sees it.
interface Order {

    /// A thread has made the calls of a transport that it had to, outside of a publish.
    ///
    /// @param failure of the calls, or `null`
    /// @return the same, with what was thrown meanwhile
    @Nullable
    Throwable onCallsOver(@Nullable Throwable failure);
}
