/// What bytes mean.
///
/// - [WireFormat][io.bulla.pack.WireFormat] names a format and whether its items describe themselves. Nothing is
///   guessed from the bytes.
/// - [Packer][io.bulla.pack.Packer] writes one item per call into a builder; an item that fails leaves nothing
///   behind.
/// - [Unpacker][io.bulla.pack.Unpacker] reads one item per call and owns the position, so any number of them can
///   read one buffer; a read that fails leaves it where it was and throws
///   [UnpackException][io.bulla.pack.UnpackException].
/// - [Limits][io.bulla.pack.Limits] bound what a message may announce, checked before anything is allocated.
/// - [DssType][io.bulla.pack.DssType] are the type ids of OPAL DSS.
package io.bulla.pack;
