// SPDX-License-Identifier: Apache-2.0
/// What a checkpoint takes of a node: its undelivered messages and the numbers of its sessions, at one moment.
///
/// - [NodeCut][io.bulla.runtime.oob.cut.NodeCut] is that moment of one node, and enough to begin a node that goes on
///   there; [CutName][io.bulla.runtime.oob.cut.CutName] says of which checkpoint it is.
/// - [LiveCut][io.bulla.runtime.oob.cut.LiveCut] takes one of a node that goes on meanwhile.
///
/// [OobNode][io.bulla.runtime.oob.OobNode] gives both, and
/// [OobNodeBuilder][io.bulla.runtime.oob.OobNodeBuilder] takes a cut to restore.
@NullMarked
package io.bulla.runtime.oob.cut;

import org.jspecify.annotations.NullMarked;
