// SPDX-License-Identifier: Apache-2.0
/// Images of processes with nodes in them: what such a process gives up before, and takes again after.
///
/// - [Standstill][io.bulla.runtime.image.Standstill]: nodes without sockets, devices without marks, and all
///   of it again. What it is to do is in [StandstillOptions][io.bulla.runtime.image.StandstillOptions].
/// - [CracAdapter][io.bulla.runtime.image.CracAdapter]: a standstill as a resource of CRaC. It alone needs
///   `org.crac`.
/// - [CriuAdapter][io.bulla.runtime.image.CriuAdapter]: this process into an image, by a program that is
///   there, [Criu][io.bulla.runtime.image.Criu].
///
/// The sessions of the nodes are in the image, with every message that is on its way. An image is of one
/// moment: it is good as long as the process has not gone on after it. That is so with both adapters, for
/// the process ends with its image. Copies of nodes that go on are checkpoints, `runtime/checkpoint`.
@NullMarked
package io.bulla.runtime.image;

import org.jspecify.annotations.NullMarked;
