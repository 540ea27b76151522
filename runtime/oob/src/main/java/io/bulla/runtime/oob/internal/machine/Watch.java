// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.machine;

/// Who looks at a node from outside its threads, for those may be what stands.
@FunctionalInterface
public interface Watch {

    /// Without a look.
    Watch NONE = (nanos, look) -> () -> {};

    /// Calls a look again and again, one call at a time. Any thread.
    ///
    /// @param look neither blocks nor throws
    /// @return ends that
    Runnable every(long nanos, Runnable look);
}
