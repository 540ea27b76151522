// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.runtime.pmix.internal.job.EventRequest;

/// A wish for events that the server has perhaps not answered yet. What the server sends before the answer was waited
/// for is told, too. One thread waits; any may close.
public final class PmixPendingRegistration implements PmixClient.Registration {

    private final EventRequest request;

    PmixPendingRegistration(EventRequest request) {
        this.request = request;
    }

    /// Waits for the answer, for [PmixOptions#deadline] at most. Once.
    ///
    /// @throws PmixException if the server says no, or nothing in time; no events come then
    /// @throws InterruptedException if the wait is interrupted; no events come then
    /// @throws IllegalStateException if it was waited for or closed before
    public void await() throws PmixException, InterruptedException {
        request.await();
    }

    @Override
    public void close() {
        request.close();
    }
}
