// SPDX-License-Identifier: Apache-2.0
/// Events of the server, from the thread that reads to their listeners. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.events;

import org.jspecify.annotations.NullMarked;
