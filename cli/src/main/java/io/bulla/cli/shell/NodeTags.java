// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

/// Tags of the messages between the nodes of `bulla node` and `bulla xcast`: the launcher's, and those of a node that
/// is checkpointed.
public final class NodeTags {

    public static final int LAUNCH = 1;
    public static final int VERDICT = 2;
    public static final int ASK = 3;
    public static final int COUNTS = 4;
    public static final int PING = 5;
    public static final int END = 6;
    public static final int TICK = 7;
    public static final int NUMBERED = 8;
    public static final int BROADCAST = 9;
    public static final int LOOK = 10;
    public static final int MEMORY = 11;

    private NodeTags() {}
}
