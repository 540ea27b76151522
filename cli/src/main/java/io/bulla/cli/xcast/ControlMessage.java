// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.Message;

/// A message from a node to the node that broadcasts.
sealed interface ControlMessage {

    WireFormat FORMAT = WireFormat.OPAL_DSS;

    void packInto(BufferBuilder builder);

    /// `INT32 rank | STRING trouble`
    ///
    /// @param trouble why the message is not what was sent, or `null`
    record Verdict(int rank, String trouble) implements ControlMessage {

        @Override
        public void packInto(BufferBuilder builder) {
            Packer.into(builder, FORMAT).packInt32(rank).packString(trouble);
        }

        static Verdict of(Message message) {
            Unpacker words = message.unpacker(Limits.DEFAULT);
            return new Verdict(words.unpackInt32(), words.unpackString());
        }
    }

    /// `INT64 sends | INT64 copies | INT64 allocated | INT64 handles | INT64 socket bytes |
    /// INT64 memory`, all since the process began.
    ///
    /// @param sends of broadcasts, one per child
    /// @param meters of its process
    /// @param handlesOpen in its process
    /// @param socketBytes that it has given to sockets
    /// @param memory of its process, now
    record Counts(long sends, Meters.Reading meters, long handlesOpen, long socketBytes, long memory)
            implements ControlMessage {

        @Override
        public void packInto(BufferBuilder builder) {
            Packer.into(builder, FORMAT)
                    .packInt64(sends)
                    .packInt64(meters.copies())
                    .packInt64(meters.allocated())
                    .packInt64(handlesOpen)
                    .packInt64(socketBytes)
                    .packInt64(memory);
        }

        static Counts of(Message message) {
            Unpacker words = message.unpacker(Limits.DEFAULT);
            return new Counts(
                    words.unpackInt64(),
                    new Meters.Reading(words.unpackInt64(), words.unpackInt64()),
                    words.unpackInt64(),
                    words.unpackInt64(),
                    words.unpackInt64());
        }
    }

    /// `INT64 memory`
    ///
    /// @param memory of its process, which has the last message still
    record Memory(long memory) implements ControlMessage {

        @Override
        public void packInto(BufferBuilder builder) {
            Packer.into(builder, FORMAT).packInt64(memory);
        }

        static Memory of(Message message) {
            Unpacker words = message.unpacker(Limits.DEFAULT);
            return new Memory(words.unpackInt64());
        }
    }
}
