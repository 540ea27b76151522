// SPDX-License-Identifier: Apache-2.0
/// The connection to the server: calls go out and answers come back, each on a thread of its own. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.session;

import org.jspecify.annotations.NullMarked;
