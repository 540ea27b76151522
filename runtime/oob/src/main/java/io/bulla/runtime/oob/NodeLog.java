// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.lang.System.Logger;

/// Where a node's classes log: under the name of the class that a user knows.
final class NodeLog {

    static final Logger LOG = System.getLogger("io.bulla.runtime.oob.OobNode");

    private NodeLog() {}
}
