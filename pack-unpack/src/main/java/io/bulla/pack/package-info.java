// SPDX-License-Identifier: Apache-2.0
/// Packs values into bytes, and unpacks them. The types of the values are in `io.bulla.pack.value`.
///
/// - [WireFormat][io.bulla.pack.WireFormat] names a format, its ids of types and whether its items describe
///   themselves. Nothing is guessed from the bytes.
/// - [DataType][io.bulla.pack.value.DataType] names what a value is.
/// - [Packer][io.bulla.pack.Packer] writes one item per call into a builder; an item that fails leaves nothing
///   behind.
/// - [Unpacker][io.bulla.pack.Unpacker] reads one item per call and owns the position, so any number of them can
///   read one buffer; a read that fails leaves it where it was and throws
///   [UnpackException][io.bulla.pack.UnpackException].
/// - [Composite][io.bulla.pack.value.Composite] values are records: [Proc][io.bulla.pack.value.Proc],
///   [Info][io.bulla.pack.value.Info], [Value][io.bulla.pack.value.Value] and others.
/// - [Codec][io.bulla.pack.Codec] packs a type of one's own; a [CodecRegistry][io.bulla.pack.CodecRegistry] gives
///   it an id in a format.
/// - [Envelope][io.bulla.pack.Envelope] says what the bytes behind it are, and whether they are whole;
///   [Enveloped][io.bulla.pack.Enveloped] is what was read from one.
/// - [Compressed][io.bulla.pack.Compressed] makes and inflates what PMIx compresses.
/// - [Explain][io.bulla.pack.Explain] shows what packed bytes say.
/// - [Limits][io.bulla.pack.Limits] bound what a message may announce, checked before anything is allocated.
///
/// Inside, an `Encoding` gives numbers their bytes, and the element and composite writers and readers put numbers
/// and text together; both families share all of them.
@NullMarked
package io.bulla.pack;

import org.jspecify.annotations.NullMarked;
