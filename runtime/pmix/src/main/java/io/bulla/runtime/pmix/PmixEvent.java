// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.value.Proc;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// An event from the server, such as the death of a process. It is a hint: it may come late, or never.
///
/// @param status its code
/// @param source who told the server; for a death often not the one who died
/// @param affected the processes that it is about, as `pmix.evproc` or `pmix.evaffected` says; perhaps none
/// @param info all that was said with it
public record PmixEvent(PmixStatus status, Proc source, List<Proc> affected, Map<String, PmixValue> info) {

    /// Copies the list and the map.
    public PmixEvent {
        affected = List.copyOf(affected);
        info = Collections.unmodifiableMap(new LinkedHashMap<>(info));
    }
}
