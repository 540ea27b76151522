// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import com.google.flatbuffers.FlatBufferBuilder;
import com.google.flatbuffers.Table;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// What `flatc` would generate of `table Order { number:long; customer:string; picture:[ubyte]; }`.
final class OrderTable extends Table {

    static OrderTable getRootAsOrderTable(ByteBuffer bytes) {
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        OrderTable table = new OrderTable();
        table.__reset(bytes.getInt(bytes.position()) + bytes.position(), bytes);
        return table;
    }

    static int createOrderTable(FlatBufferBuilder flat, long number, int customer, int picture) {
        flat.startTable(3);
        flat.addLong(0, number, 0);
        flat.addOffset(1, customer, 0);
        flat.addOffset(2, picture, 0);
        return flat.endTable();
    }

    long number() {
        int at = __offset(4);
        return at == 0 ? 0 : bb.getLong(bb_pos + at);
    }

    String customer() {
        int at = __offset(6);
        return at == 0 ? null : __string(bb_pos + at);
    }

    ByteBuffer pictureAsByteBuffer() {
        return __vector_as_bytebuffer(8, 1);
    }
}
