// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Codec;
import io.bulla.pack.CodecRegistry;
import io.bulla.pack.Compressed;
import io.bulla.pack.Envelope;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Wire;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.faults.Doubles.Job;
import io.bulla.testkit.faults.Doubles.Rank;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.nio.channels.Channels;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// How the operations of `pack-unpack` are called.
final class PackCalls {

    private static final WireFormat FORMAT = Fixtures.FORMAT;
    private static final int ID = 600;

    private PackCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        return values(envelopes(codecs(unpackers(packers(all)))));
    }

    private static FaultCatalogue packers(FaultCatalogue all) {
        all.receiver(Packer.class, scene -> Packer.into(scene.builder(16), FORMAT))
                .receiver(Packer.class, scene -> Packer.into(scene.builderOfManyRegions(), FORMAT));
        all.arguments("Packer.pack(Composite, Composite[])", new Proc("job", 1), new Composite[] {new Proc("job", 2)});
        all.arguments("Packer.pack(DataType, Object[])", DataType.INT32, new Object[] {1, 2, 3});
        all.arguments("Packer.packInts(DataType, int[], int, int)", DataType.INT32, new int[9000], 4, 8000);
        all.arguments("Packer.packInt64(long[])", new long[9000]);
        all.arguments("Packer.packStrings(String[])", (Object) new String[] {"a", null, "text that is longer"});
        all.arguments("Packer.packRawString(IoVec[])", (Object) new IoVec[] {raw(), raw()});
        all.arguments("Packer.packByteObject(byte[])", FaultScene.bytes(9000, 1));
        all.arguments("Packer.packByteObject(byte[][])", (Object) new byte[][] {{1}, FaultScene.bytes(9000, 1)});
        for (String type : new String[] {"long[], int, int", "MemorySegment", "long[]"}) {
            all.arguments(
                    "Packer.packLongs(DataType, " + type + ")",
                    type.startsWith("M")
                            ? new Object[] {DataType.INT64, Arena.ofAuto().allocate(64, 8)}
                            : type.equals("long[]")
                                    ? new Object[] {DataType.INT64, new long[64]}
                                    : new Object[] {DataType.INT64, new long[64], 4, 4});
        }
        all.arguments("Packer.packShorts(DataType, short[])", DataType.INT16, new short[64]);
        all.arguments("Packer.packBytes(DataType, byte[])", DataType.BYTE, new byte[64]);
        return all;
    }

    /// Bytes that are no UTF-8.
    private static IoVec raw() {
        return IoVec.of(Arena.ofAuto().allocate(900).fill((byte) 0xe9));
    }

    private static FaultCatalogue unpackers(FaultCatalogue all) {
        all.receiver(Unpacker.class, scene -> Fixtures.unpacker(scene, packer -> packer.packInt32(1, 2, 3)));
        unpack(all, "skip()", packer -> packer.packString("text"));
        unpack(all, "skip(DataType)", packer -> packer.packInt32(1));
        unpack(all, "unpack(Class)", packer -> packer.pack(new Proc("job", 1)), Proc.class);
        unpack(all, "unpackAll(Class)", packer -> packer.pack(new Proc("job", 1), new Proc("job", 2)), Proc.class);
        unpack(
                all,
                "unpack(DataType)",
                packer -> packer.pack(DataType.DATA_ARRAY, DataArray.of(DataType.INT32, 1, 2)),
                DataType.DATA_ARRAY);
        all.on("Unpacker.unpackBuffer()", scene -> {
            SealedBuffer inner = Fixtures.packed(scene, FORMAT, packer -> packer.packInt32(1));
            return FaultCall.on(Fixtures.unpacker(scene, packer -> packer.packBuffer(inner)));
        });
        unpack(all, "unpackString()", packer -> packer.packString("a text over more than one region"));
        unpack(all, "unpackStrings()", packer -> packer.packStrings("a", "b"));
        unpack(all, "unpackRawString()", packer -> packer.packRawString(raw()));
        unpack(all, "unpackRawStrings()", packer -> packer.packRawString(raw(), raw()));
        unpack(all, "unpackByteObject()", packer -> packer.packByteObject(FaultScene.bytes(900, 1)));
        unpack(all, "unpackByteObjects()", packer -> packer.packByteObject(new byte[] {1}, new byte[] {2}));
        unpack(all, "unpackInt(DataType)", packer -> packer.packInt32(7));
        unpack(all, "unpackInt32()", packer -> packer.packInt32(7));
        unpack(all, "unpackInt64()", packer -> packer.packInt64(7));
        unpack(all, "unpackInt64s()", packer -> packer.packInt64(7, 8));
        unpack(all, "unpackLong(DataType)", packer -> packer.packInt64(7), DataType.INT64);
        unpack(all, "unpackLongs(DataType)", packer -> packer.packInt64(7, 8), DataType.INT64);
        unpack(all, "unpackLongs(DataType, long[])", packer -> packer.packInt64(7, 8), DataType.INT64, new long[64]);
        unpack(all, "unpackBool()", packer -> packer.packBool(true));
        unpack(all, "unpackBools()", packer -> packer.packBool(true, false));
        unpack(all, "unpackByte(DataType)", packer -> packer.packBytes(DataType.BYTE, (byte) 1), DataType.BYTE);
        unpack(all, "unpackBytes(DataType)", packer -> packer.packBytes(DataType.BYTE, (byte) 1), DataType.BYTE);
        unpack(all, "unpackShort(DataType)", packer -> packer.packShorts(DataType.INT16, (short) 1), DataType.INT16);
        unpack(all, "unpackShorts(DataType)", packer -> packer.packShorts(DataType.INT16, (short) 1), DataType.INT16);
        unpack(
                all,
                "unpackShorts(DataType, short[])",
                packer -> packer.packShorts(DataType.INT16, (short) 1),
                DataType.INT16,
                new short[64]);
        unpack(all, "unpackFloats()", packer -> packer.packFloat(0.5f));
        unpack(all, "unpackDoubles()", packer -> packer.packDouble(0.5));
        return all;
    }

    private static void unpack(FaultCatalogue all, String operation, Consumer<Packer> items, Object... arguments) {
        all.on("Unpacker." + operation, scene -> {
            Unpacker unpacker = Fixtures.unpacker(scene, items);
            return FaultCall.with(
                    unpacker, same -> arguments.length > 0 ? arguments : all.fixtures("Unpacker." + operation, scene));
        });
    }

    private static FaultCatalogue codecs(FaultCatalogue all) {
        all.receiver(CodecRegistry.class, PackCalls::registry);
        List<Job> jobs = List.of(new Job(1, "a"), new Job(2, "b"));
        all.on(
                "Codec.pack(Packer, Object)",
                scene -> FaultCall.on(
                        Codec.ofRecord(MethodHandles.lookup(), Rank.class),
                        Packer.into(scene.builder(1 << 10), FORMAT),
                        new Rank(1, "host")));
        all.on("Codec.unpack(Unpacker)", scene -> {
            Codec<Rank> codec = Codec.ofRecord(MethodHandles.lookup(), Rank.class);
            return FaultCall.on(
                    codec,
                    Unpacker.of(
                            Fixtures.packed(scene, FORMAT, packer -> codec.pack(packer, new Rank(1, "host"))), FORMAT));
        });
        all.arguments("Codec.ofRecord(MethodHandles.Lookup, Class)", MethodHandles.lookup(), Rank.class);
        all.on(
                "CodecRegistry.with(int, Class, Codec)",
                scene -> FaultCall.on(CodecRegistry.of(FORMAT), ID, Job.class, Doubles.codec(scene.points())));
        for (boolean many : new boolean[] {false, true}) {
            all.on(
                    "CodecRegistry.pack(Packer, Class, List)",
                    scene -> FaultCall.on(
                            registry(scene),
                            Packer.into(many ? scene.builderOfManyRegions() : scene.builder(16), FORMAT),
                            Job.class,
                            jobs));
        }
        all.on("CodecRegistry.unpack(Unpacker, Class)", scene -> {
            CodecRegistry registry = registry(scene);
            return FaultCall.on(
                    registry, Fixtures.unpacker(scene, packer -> registry.pack(packer, Job.class, jobs)), Job.class);
        });
        all.on("CodecRegistry.unpackNext(Unpacker)", scene -> {
            CodecRegistry registry = registry(scene);
            return FaultCall.on(registry, Fixtures.unpacker(scene, packer -> registry.pack(packer, Job.class, jobs)));
        });
        return all;
    }

    private static CodecRegistry registry(FaultScene scene) {
        return CodecRegistry.of(FORMAT).with(ID, Job.class, Doubles.codec(scene.points()));
    }

    private static FaultCatalogue envelopes(FaultCatalogue all) {
        all.arguments("Envelope.new(Optional, long, int)", Optional.of(FORMAT), 4L, 4);
        all.on(
                "Enveloped.new(Optional, SealedBuffer)",
                scene -> FaultCall.on(null, Optional.of(FORMAT), scene.lastHandle()));
        all.on("Envelope.of(SealedBuffer, long)", scene -> FaultCall.on(null, enveloped(scene), 1L << 20));
        all.on(
                "Envelope.ofHeader(IoVec, long)",
                scene -> FaultCall.on(null, enveloped(scene).iovec(), 1L << 20));
        all.on("Envelope.items(SealedBuffer)", scene -> {
            SealedBuffer whole = enveloped(scene);
            return FaultCall.on(Envelope.of(whole, 1 << 20), whole);
        });
        all.on("Envelope.write(WritableByteChannel, WireFormat, SealedBuffer)", scene -> {
            SealedBuffer items = scene.lastHandle();
            return FaultCall.with(null, same -> new Object[] {Doubles.writable(scene.points()), FORMAT, items});
        });
        all.on("Envelope.write(WritableByteChannel, Optional, SealedBuffer)", scene -> {
            SealedBuffer items = scene.lastHandle();
            return FaultCall.with(
                    null, same -> new Object[] {Doubles.writable(scene.points()), Optional.empty(), items});
        });
        all.on("Envelope.wrap(MemorySource, Optional, SealedBuffer)", scene -> {
            SealedBuffer items = scene.lastHandle();
            return FaultCall.on(null, scene.source(), Optional.empty(), items);
        });
        all.on("Envelope.read(ReadableByteChannel, MemorySource, long)", scene -> {
            byte[] whole = bytesOf(scene);
            return FaultCall.with(null, same ->
                    new Object[] {Doubles.readable(scene.points(), whole), scene.source(), 1L << 20});
        });
        return all;
    }

    private static SealedBuffer enveloped(FaultScene scene) {
        return scene.own(Envelope.wrap(scene.source(), FORMAT, scene.lastHandle()));
    }

    private static byte[] bytesOf(FaultScene scene) {
        try (SealedBuffer items = scene.lastHandle()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Envelope.write(Channels.newChannel(out), FORMAT, items);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FaultCatalogue values(FaultCatalogue all) {
        IoVec text = Compressed.of("text");
        all.arguments("Compressed.text(IoVec, Limits)", text, Limits.DEFAULT);
        all.arguments("Compressed.bytes(IoVec, Limits)", text, Limits.DEFAULT);
        all.receiver(Composite.class, scene -> new Proc("job", 1));
        all.receiver(UnpackException.class, PackCalls::failure);
        for (String output : new String[] {
            "described(SealedBuffer, WireFormat, Appendable)", "typed(SealedBuffer, WireFormat, List, Appendable)"
        }) {
            all.on("Explain." + output, scene -> {
                SealedBuffer items = Fixtures.packed(
                        scene, FORMAT, packer -> packer.packInt32(1, 2).packString("text"));
                return FaultCall.with(
                        null,
                        same -> output.startsWith("d")
                                ? new Object[] {items, FORMAT, Doubles.appendable(scene.points())}
                                : new Object[] {
                                    items,
                                    FORMAT,
                                    List.of(DataType.INT32, DataType.STRING),
                                    Doubles.appendable(scene.points())
                                });
            });
        }
        all.arguments("App.new(String, List, List, String, int, List)", "run", List.of(), List.of(), "/", 1, List.of());
        all.arguments("Coord.new(byte, List)", (byte) 1, List.of(1));
        all.arguments("DataArray.new(DataType, List)", DataType.INT32, List.of(1));
        all.arguments("DataArray.of(DataType, Object[])", DataType.INT32, new Object[] {1, 2});
        all.arguments("Geometry.new(long, String, String, List)", 1L, "id", "name", List.of());
        all.arguments("Query.new(List, List)", List.of("key"), List.of());
        all.arguments("RegAttr.new(String, String, short, List)", "name", "key", (short) 1, List.of());
        all.arguments("Value.new(DataType, Object)", DataType.INT32, 1);
        all.arguments("DataType.valueOf(String)", "INT32");
        all.arguments("FloatText.valueOf(String)", "STRICT");
        all.arguments("TextMode.valueOf(String)", "STRICT");
        all.arguments("UnpackException.Reason.valueOf(String)", "LIMIT");
        all.arguments("WireFormat.valueOf(String)", "PMIX_4");
        all.arguments("Wire.valueOf(String)", "INT32");
        all.arguments("DataType.of(Class)", Proc.class);
        all.on("DataType.check(Object)", scene -> FaultCall.on(DataType.INT32, 7));
        all.on("Wire.unbox(Object)", scene -> FaultCall.on(Wire.INT32, 7));
        all.on("WireFormat.id(DataType)", scene -> FaultCall.on(FORMAT, DataType.INT32));
        return all;
    }

    private static UnpackException failure(FaultScene scene) {
        try {
            Fixtures.unpacker(scene, packer -> packer.packInt32(1)).unpackString();
            throw new IllegalStateException("an int was read as text");
        } catch (UnpackException wrongType) {
            return wrongType;
        }
    }
}
