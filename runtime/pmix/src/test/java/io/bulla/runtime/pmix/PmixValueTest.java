// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.pack.Compressed;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Values that stand alone.
class PmixValueTest {

    @Test
    void numbersKeepTheirSignOrHaveNone() {
        assertEquals(-1, PmixValue.of(-1).asLong());
        assertEquals(0xffff_ffffL, new PmixValue(new Value(DataType.UINT32, -1)).asLong());
        assertEquals(0xffff, new PmixValue(new Value(DataType.UINT16, (short) -1)).asLong());
        assertEquals(255, new PmixValue(new Value(DataType.UINT8, (byte) -1)).asLong());
        assertEquals(-1, new PmixValue(new Value(DataType.UINT64, -1L)).asLong());
    }

    @Test
    void bytesAreCopiesBothWays() {
        byte[] bytes = {1, 2};
        PmixValue value = PmixValue.of(bytes);
        bytes[0] = 9;
        value.asBytes()[1] = 9;
        assertArrayEquals(new byte[] {1, 2}, value.asBytes());
    }

    @Test
    void whatIsCompressedIsInflated() {
        String text = "long ".repeat(1000);
        assertEquals(PmixValue.of(text), new PmixValue(new Value(DataType.COMPRESSED_STRING, Compressed.of(text))));
    }

    @Test
    void aValueOfAnotherTypeIsRefusedByName() {
        PmixValue text = PmixValue.of("7");
        assertEquals("7", text.asString());
        assertEquals(
                "value is not a whole number: type=STRING",
                assertThrows(IllegalStateException.class, text::asLong).getMessage());
        assertThrows(IllegalStateException.class, text::asBytes);
        assertThrows(IllegalStateException.class, text::asBoolean);
        assertThrows(IllegalStateException.class, text::asProc);
        assertThrows(IllegalStateException.class, text::asList);
        assertThrows(IllegalStateException.class, () -> PmixValue.of(1).asString());
        PmixValue array = new PmixValue(new Value(DataType.DATA_ARRAY, DataArray.of(DataType.PROC, new Proc("a", 1))));
        assertEquals(List.of(new Proc("a", 1)), array.asList());
    }

    @Test
    void aStatusHasTheNameThatItHasInC() {
        assertEquals("ERR_NOT_FOUND(-46)", PmixStatus.NOT_FOUND.toString());
        assertEquals("-9999", new PmixStatus(-9999).toString());
    }
}
