// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import com.google.protobuf.UnsafeByteOperations;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;

/// A protobuf message that was parsed where its bytes lie: its `bytes` fields are views of the sealed buffer.
///
/// ```java
/// // a relay that looks into a message, and hands on what it received
/// try (message; ParsedMessage<News> news = ParsedMessage.parse(News.parser(), message)) {
///     feed(news.message().getTopic()).publish(news.bytes());
/// }
/// ```
///
/// Numbers and strings are the message's own, as always. A `ByteString` of it may be read until this is closed; what
/// is needed longer is copied with `ByteString.copyFrom`, or kept by a handle of one's own. See "What gRPC lends" in
/// the page on misuse.
///
/// The one class here that needs `protobuf-java`, which is an optional dependency. Any number of threads may read it
/// at once.
///
/// @param <M> of the message
public final class ParsedMessage<M extends MessageLite> implements AutoCloseable {

    private final SealedBuffer own;
    private final M message;

    private ParsedMessage(SealedBuffer own, M message) {
        this.own = own;
        this.message = message;
    }

    /// Parses a message without extensions.
    ///
    /// @param parser of the generated class
    /// @param bytes an open handle, which stays the caller's: this takes its own
    /// @param <M> of the message
    /// @return the message, to be closed
    /// @throws InvalidProtocolBufferException if the bytes are no such message
    /// @throws IllegalArgumentException if they are over 2 GiB
    /// @throws ReleasedBufferException if `bytes` is closed
    public static <M extends MessageLite> ParsedMessage<M> parse(Parser<M> parser, SealedBuffer bytes)
            throws InvalidProtocolBufferException {
        return parse(parser, ExtensionRegistryLite.getEmptyRegistry(), bytes);
    }

    /// Parses a message.
    ///
    /// @param parser of the generated class
    /// @param extensions that the message may have
    /// @param bytes an open handle, which stays the caller's: this takes its own
    /// @param <M> of the message
    /// @return the message, to be closed
    /// @throws InvalidProtocolBufferException if the bytes are no such message
    /// @throws IllegalArgumentException if they are over 2 GiB
    /// @throws ReleasedBufferException if `bytes` is closed
    public static <M extends MessageLite> ParsedMessage<M> parse(
            Parser<M> parser, ExtensionRegistryLite extensions, SealedBuffer bytes)
            throws InvalidProtocolBufferException {
        if (bytes.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "more bytes than a protobuf message holds: byteSize=" + bytes.byteSize());
        }
        SealedBuffer own = bytes.share();
        try {
            return new ParsedMessage<>(own, parsed(parser, extensions, own));
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }

    private static <M extends MessageLite> M parsed(
            Parser<M> parser, ExtensionRegistryLite extensions, SealedBuffer own)
            throws InvalidProtocolBufferException {
        CodedInputStream input = view(own).newCodedInput();
        // of a string that is known to stay as it is: fields point into it
        input.enableAliasing(true);
        M message = parser.parseFrom(input, extensions);
        try {
            input.checkLastTagWas(0);
        } catch (InvalidProtocolBufferException failure) {
            throw failure.setUnfinishedMessage(message);
        }
        return message;
    }

    private static ByteString view(SealedBuffer own) {
        ByteString all = ByteString.EMPTY;
        for (ByteBuffer region : own.iovec().asByteBuffers()) {
            all = all.concat(UnsafeByteOperations.unsafeWrap(region));
        }
        return all;
    }

    /// The message, whose `bytes` fields may be read until this is closed.
    ///
    /// @return the same each time
    /// @throws ReleasedBufferException if this is closed
    public M message() {
        checkOpen();
        return message;
    }

    /// What the message was parsed from, to be handed on as it is.
    ///
    /// @return this one's handle, closed with it: `share()` it to keep it longer
    public SealedBuffer bytes() {
        return own;
    }

    private void checkOpen() {
        // throws for a closed handle
        own.byteSize();
    }

    /// Lets the bytes go. Again is harmless.
    @Override
    public void close() {
        own.close();
    }

    @Override
    public String toString() {
        return "ParsedMessage[" + own + "]";
    }
}
