// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;

/// A root that is filled again for each batch: numbers, and words of a dictionary. Each row tells whether it is
/// right.
final class Batches implements DictionaryProvider, AutoCloseable {

    private static final String[] WORDS = {"clay", "token", "seal"};

    private final BufferAllocator allocator;
    private final BigIntVector numbers;
    private final FieldVector words;
    private final Dictionary dictionary;
    final VectorSchemaRoot root;

    Batches(BufferAllocator allocator) {
        this.allocator = allocator;
        VarCharVector known = words("known", 3);
        dictionary = new Dictionary(known, new DictionaryEncoding(1, false, null));
        numbers = new BigIntVector("numbers", allocator);
        try (VarCharVector plain = words("words", 1)) {
            words = (FieldVector) DictionaryEncoder.encode(plain, dictionary);
        }
        root = new VectorSchemaRoot(List.of(numbers, words));
    }

    private VarCharVector words(String name, int rows) {
        VarCharVector vector = new VarCharVector(name, allocator);
        for (int i = 0; i < rows; i++) {
            vector.setSafe(i, WORDS[i % WORDS.length].getBytes(StandardCharsets.UTF_8));
        }
        vector.setValueCount(rows);
        return vector;
    }

    /// The rows of a batch, over those of the one before.
    void fill(int batch, int rows) {
        // or bits of longer batches stay behind the last row, which are sent too
        numbers.reset();
        words.reset();
        for (int row = 0; row < rows; row++) {
            numbers.setSafe(row, number(batch, row));
            ((org.apache.arrow.vector.IntVector) words).setSafe(row, (batch + row) % WORDS.length);
        }
        root.setRowCount(rows);
    }

    ArrowBuf metadata(int batch) {
        ArrowBuf metadata = allocator.buffer(4);
        metadata.writeInt(batch);
        return metadata;
    }

    private static long number(int batch, int row) {
        return batch * 1_000_000L + row;
    }

    /// @return which batch it is
    /// @throws AssertionError if a row is another than was sent
    static int check(FlightStream stream) {
        int batch = stream.getLatestMetadata().getInt(0);
        VectorSchemaRoot root = stream.getRoot();
        BigIntVector numbers = (BigIntVector) root.getVector("numbers");
        try (VarCharVector words = (VarCharVector) DictionaryEncoder.decode(
                root.getVector("words"), stream.getDictionaryProvider().lookup(1))) {
            for (int row = 0; row < root.getRowCount(); row++) {
                String word = words.getObject(row).toString();
                if (numbers.get(row) != number(batch, row) || !word.equals(WORDS[(batch + row) % WORDS.length])) {
                    throw new AssertionError("wrong row: batch=" + batch + " row=" + row + " number=" + numbers.get(row)
                            + " word=" + word);
                }
            }
        }
        return batch;
    }

    @Override
    public Dictionary lookup(long id) {
        return id == 1 ? dictionary : null;
    }

    @Override
    public Set<Long> getDictionaryIds() {
        return Set.of(1L);
    }

    @Override
    public void close() {
        root.close();
        dictionary.getVector().close();
    }
}
