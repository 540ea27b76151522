// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/// The message that `bulla xcast` broadcasts, in described OPAL DSS: a job name, the nodes' addresses, the
/// environment variables that the user named, the files.
///
/// ```
/// STRING job | STRING node... | STRING variable... | INT32 number of files
/// per file: STRING name, BYTE_OBJECT content, INT32 CRC32C of the content
/// ```
final class LaunchMessage {

    static final WireFormat FORMAT = WireFormat.OPAL_DSS_DESCRIBED;

    /// A file too large for the format's 32-bit size starts here, in bytes.
    private static final long TOO_LARGE = 1L << 31;

    private static final int PRACTICE_BYTES = 4 << 10;

    private LaunchMessage() {}

    /// Reads every file once, straight into the buffer.
    static SealedBuffer pack(
            MemorySource source,
            long limit,
            String job,
            List<String> nodes,
            Map<String, String> environment,
            List<Path> files)
            throws IOException {
        long payload = payloadBytes(limit, files);
        String[] variables = environment.entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue())
                .toArray(String[]::new);
        long overhead = 256L * files.size() + 128L * nodes.size() + 1024;
        for (String variable : variables) {
            overhead += 8 + 3L * variable.length();
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, payload + overhead)) {
            Packer packer = Packer.into(builder, FORMAT)
                    .packString(job)
                    .packStrings(nodes.toArray(String[]::new))
                    .packStrings(variables)
                    .packInt32(files.size());
            for (Path file : files) {
                packFile(packer, file);
            }
            if (builder.byteSize() > limit) {
                throw new IOException("message over the limit: length=" + builder.byteSize() + " limit=" + limit);
            }
            return builder.seal();
        }
    }

    /// Bytes of the files.
    ///
    /// @throws IOException if one cannot be sent, or they are over the limit
    static long payloadBytes(long limit, List<Path> files) throws IOException {
        long payload = 0;
        for (Path file : files) {
            payload += checkedSize(file);
        }
        if (payload > limit) {
            throw new IOException("message over the limit: length=" + payload + " limit=" + limit);
        }
        return payload;
    }

    /// Unpacks the message and checks every checksum.
    ///
    /// @return number of files verified
    /// @throws io.bulla.pack.UnpackException if the bytes are not a launch message
    static int verify(Unpacker unpacker) throws IOException {
        unpacker.unpackString();
        unpacker.unpackStrings();
        unpacker.unpackStrings();
        int files = unpacker.unpackInt32();
        for (int i = 0; i < files; i++) {
            String name = unpacker.unpackString();
            IoVec content = unpacker.unpackByteObject();
            int expected = unpacker.unpackInt32();
            CRC32C checksum = new CRC32C();
            for (ByteBuffer view : content.lent().asByteBuffers()) {
                checksum.update(view);
            }
            int found = (int) checksum.getValue();
            if (found != expected) {
                throw new IOException("file arrived damaged: name=" + name + " bytes=" + content.byteSize() + " crc32c="
                        + Integer.toHexString(found) + " expected=" + Integer.toHexString(expected));
            }
        }
        if (unpacker.remaining() != 0) {
            throw new IOException("bytes behind the last file: remaining=" + unpacker.remaining());
        }
        return files;
    }

    /// Packs and verifies something of this process's own, so that the first message finds its classes loaded: what
    /// the process takes for these is not the message's.
    static void practise(MemorySource source) throws IOException {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, PRACTICE_BYTES + 1024)) {
            Packer packer = Packer.into(builder, FORMAT)
                    .packString("practice")
                    .packStrings(new String[0])
                    .packStrings(new String[0])
                    .packInt32(1);
            InputStream zeros = new ByteArrayInputStream(new byte[PRACTICE_BYTES]);
            packFile(packer, "zeros", Channels.newChannel(zeros), PRACTICE_BYTES);
            try (SealedBuffer message = builder.seal()) {
                verify(Unpacker.of(message, FORMAT));
            }
        }
    }

    private static void packFile(Packer packer, Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            packFile(packer, file.getFileName().toString(), channel, channel.size());
        } catch (IOException failure) {
            throw new IOException("cannot read " + file + ": " + failure.getMessage(), failure);
        }
    }

    private static void packFile(Packer packer, String name, ReadableByteChannel channel, long bytes)
            throws IOException {
        CRC32C checksum = new CRC32C();
        packer.packString(name).packByteObject(new Summing(channel, checksum), bytes);
        packer.packInt32((int) checksum.getValue());
    }

    private static long checkedSize(Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new IOException("cannot read " + file + ": no such file");
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException("cannot read " + file + ": not a regular file");
        }
        if (!Files.isReadable(file)) {
            throw new IOException("cannot read " + file + ": permission denied");
        }
        long size = Files.size(file);
        if (size >= TOO_LARGE) {
            throw new IOException(
                    "file of 2 GiB or more: a DSS byte object has a 32-bit size: file=" + file + " bytes=" + size);
        }
        return size;
    }

    /// Sums up what is read, so that a file is read once and the checksum is of the very bytes that were packed.
    private record Summing(ReadableByteChannel channel, CRC32C checksum) implements ReadableByteChannel {

        @Override
        public int read(ByteBuffer target) throws IOException {
            ByteBuffer read = target.duplicate();
            int count = channel.read(target);
            checksum.update(read.limit(target.position()));
            return count;
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
