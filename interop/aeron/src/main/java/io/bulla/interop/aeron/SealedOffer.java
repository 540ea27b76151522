// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.DirectBufferVector;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// Gives sealed buffers to publications.
///
/// Aeron copies a message into its log before `offer` returns, so nothing is queued and nothing stays borrowed:
/// an offer takes a handle of its own, lets Aeron copy, and closes it. What was not accepted is offered again
/// with the same buffer. The copy is counted in [CopyTally], once per message that was accepted.
///
/// ```
///   header and bytes <= maxPayloadLength()     a claim of the log, copied into by [IoVec#copyTo]: memory of any kind
///   more than that                             vectors, copied and cut into fragments by Aeron, by address: native
/// memory
/// ```
///
/// Any number of threads may offer one buffer at once, each through an open handle, to any publications.
public final class SealedOffer {

    private static final DirectBufferVector[] NONE = {};

    private SealedOffer() {}

    /// Offers the bytes of `buffer` as one message.
    ///
    /// @param publication a concurrent or an exclusive one
    /// @param buffer stays open, and the caller's
    /// @return what became of it
    /// @throws IllegalArgumentException if it is longer than the publication's `maxMessageLength()`, or longer
    ///     than a fragment and not in native memory
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    public static OfferResult offer(Publication publication, SealedBuffer buffer) {
        return offer(publication, null, buffer);
    }

    /// Offers a header and the bytes of `buffer` as one message.
    ///
    /// @param publication a concurrent or an exclusive one
    /// @param header all of it is sent, from index 0 to its capacity; or `null`
    /// @param buffer stays open, and the caller's
    /// @return what became of it
    /// @throws IllegalArgumentException if both are longer than the publication's `maxMessageLength()`, or
    ///     longer than a fragment and `buffer` is not in native memory
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    public static OfferResult offer(Publication publication, @Nullable DirectBuffer header, SealedBuffer buffer) {
        // Aeron copies by address, so this handle has to be open until it has: the caller's may be closed meanwhile
        try (SealedBuffer held = buffer.share()) {
            IoVec bytes = held.iovec();
            int headerBytes = header == null ? 0 : header.capacity();
            int limit = publication.maxMessageLength();
            if (bytes.byteSize() > limit - headerBytes) {
                throw new IllegalArgumentException("message too long for the publication: byteSize=" + bytes.byteSize()
                        + " headerBytes=" + headerBytes + " maxMessageLength=" + limit);
            }
            int length = headerBytes + (int) bytes.byteSize();
            return OfferResult.of(
                    length <= publication.maxPayloadLength()
                            ? claim(publication, header, bytes, length)
                            : counted(publication.offer(vectors(copy(header), bytes.lent())), bytes));
        }
    }

    /// The bytes as Aeron's vectors, a vector per region, for calls that this class does not make.
    ///
    /// Aeron reads them by address, unchecked: the caller holds a handle until the call has returned.
    ///
    /// @param header becomes the first vector if it is not empty; or `null`
    /// @param bytes of native memory
    /// @return vectors, none of them empty; Aeron does not change them
    /// @throws IllegalArgumentException if a region is not native, or larger than 2 GiB
    public static DirectBufferVector[] vectors(@Nullable DirectBuffer header, IoVec bytes) {
        int first = header == null || header.capacity() == 0 ? 0 : 1;
        int count = first + bytes.regionCount();
        if (count == 0) {
            return NONE;
        }
        DirectBufferVector[] vectors = new DirectBufferVector[count];
        if (header != null && first == 1) {
            vectors[0] = new DirectBufferVector(header, 0, header.capacity());
        }
        for (int i = first; i < count; i++) {
            // a slice, and not the bare region: it keeps what the vector keeps
            long from = bytes.regionStart(i - first);
            long length =
                    (i - first + 1 < bytes.regionCount() ? bytes.regionStart(i - first + 1) : bytes.byteSize()) - from;
            vectors[i] = new DirectBufferVector(SealedDirectBuffer.of(bytes.slice(from, length)), 0, (int) length);
        }
        return vectors;
    }

    private static long claim(Publication publication, @Nullable DirectBuffer header, IoVec bytes, int length) {
        BufferClaim claim = new BufferClaim();
        long answer = publication.tryClaim(length, claim);
        if (answer < 0) {
            return answer;
        }
        boolean copied = false;
        try {
            int headerBytes = length - (int) bytes.byteSize();
            if (header != null && headerBytes > 0) {
                claim.buffer().putBytes(claim.offset(), header, 0, headerBytes);
            }
            if (bytes.byteSize() > 0) {
                bytes.copyTo(
                        0,
                        AgronaMemory.of(claim.buffer(), claim.offset() + headerBytes, (int) bytes.byteSize()),
                        bytes.byteSize());
            }
            copied = true;
            return answer;
        } finally {
            // a claim that is left open would stop the stream for everybody
            if (copied) {
                claim.commit();
            } else {
                claim.abort();
            }
        }
    }

    /// Aeron reads a vector after it has taken its place in the stream: a header that failed then would stop the
    /// stream for everybody.
    private static @Nullable DirectBuffer copy(@Nullable DirectBuffer header) {
        if (header == null) {
            return null;
        }
        byte[] copy = new byte[header.capacity()];
        header.getBytes(0, copy);
        return new UnsafeBuffer(copy);
    }

    private static long counted(long answer, IoVec bytes) {
        Reference.reachabilityFence(bytes);
        if (answer >= 0) {
            CopyTally.copiedByAddress(bytes.byteSize());
        }
        return answer;
    }
}
