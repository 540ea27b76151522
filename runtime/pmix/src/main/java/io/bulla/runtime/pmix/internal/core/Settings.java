// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.core;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixOptions;

/// What a client was made with. Any thread.
///
/// @param environment what the launcher said
/// @param options bounds
/// @param failures how calls fail
public record Settings(PmixEnvironment environment, PmixOptions options, Failures failures) {

    /// This process.
    public Proc self() {
        return environment.proc();
    }

    /// All processes of this one's job.
    public Proc job() {
        return new Proc(self().namespace(), Proc.WILDCARD);
    }
}
