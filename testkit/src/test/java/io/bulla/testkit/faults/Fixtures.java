// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.Safety;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.pack.Codec;
import io.bulla.pack.FloatText;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.TextMode;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.pool.SlabSupplier;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/// An argument for each type of parameter: numbers are 4, arrays and memory have 64 elements, so that any of them
/// goes with any other as offset, length or limit.
final class Fixtures {

    static final int NUMBER = 4;
    static final int LENGTH = 64;
    static final WireFormat FORMAT = WireFormat.PMIX_4_DESCRIBED;

    private static final Map<Class<?>, Function<FaultScene, Object>> BY_TYPE = new HashMap<>();

    static {
        numbers();
        memory();
        doubles();
        values();
    }

    private Fixtures() {}

    /// @return nothing if there is no value of that type
    static Function<FaultScene, Object> of(Class<?> type) {
        Function<FaultScene, Object> known = BY_TYPE.get(type);
        if (known == null && type.isArray() && BY_TYPE.containsKey(type.getComponentType())) {
            return scene -> pair(type.getComponentType(), scene);
        }
        return known;
    }

    private static Object pair(Class<?> component, FaultScene scene) {
        Object array = Array.newInstance(component, 2);
        Array.set(array, 0, BY_TYPE.get(component).apply(scene));
        Array.set(array, 1, BY_TYPE.get(component).apply(scene));
        return array;
    }

    private static <T> void add(Class<T> type, Function<FaultScene, T> value) {
        BY_TYPE.put(type, value::apply);
    }

    private static void numbers() {
        BY_TYPE.put(boolean.class, scene -> true);
        BY_TYPE.put(byte.class, scene -> (byte) NUMBER);
        BY_TYPE.put(short.class, scene -> (short) NUMBER);
        BY_TYPE.put(char.class, scene -> (char) NUMBER);
        BY_TYPE.put(int.class, scene -> NUMBER);
        BY_TYPE.put(long.class, scene -> (long) NUMBER);
        BY_TYPE.put(float.class, scene -> 0.5f);
        BY_TYPE.put(double.class, scene -> 0.5);
        add(boolean[].class, scene -> new boolean[LENGTH]);
        add(byte[].class, scene -> FaultScene.bytes(LENGTH, 2));
        add(short[].class, scene -> new short[LENGTH]);
        add(int[].class, scene -> new int[LENGTH]);
        add(long[].class, scene -> new long[LENGTH]);
        add(float[].class, scene -> new float[LENGTH]);
        add(double[].class, scene -> new double[LENGTH]);
        add(String.class, scene -> "text");
        BY_TYPE.put(Object.class, scene -> "tag");
    }

    private static void memory() {
        add(MemorySegment.class, scene -> Arena.ofAuto().allocate(LENGTH));
        add(ByteBuffer.class, scene -> ByteBuffer.allocate(LENGTH));
        add(ByteOrder.class, scene -> ByteOrder.LITTLE_ENDIAN);
        add(IoVec.class, scene -> scene.lastHandle().iovec());
        add(NativeIoVec.class, scene -> NativeIoVec.of(scene.lastHandle().iovec(), Arena.ofAuto()));
        add(Generation.class, scene -> new Generation());
        add(CopyTally.class, scene -> CopyTally.snapshot());
        add(ValueLayout.OfByte.class, scene -> ValueLayout.JAVA_BYTE);
        add(ValueLayout.OfShort.class, scene -> ValueLayout.JAVA_SHORT_UNALIGNED);
        add(ValueLayout.OfInt.class, scene -> ValueLayout.JAVA_INT_UNALIGNED);
        add(ValueLayout.OfLong.class, scene -> ValueLayout.JAVA_LONG_UNALIGNED);
        add(SealedBuffer.class, scene -> scene.buffer(300));
        add(Lease.class, scene -> scene.lastHandle());
        add(RefCount.class, scene -> new Counted(scene));
        add(BufferBuilder.class, scene -> scene.builder(16));
        add(MemorySource.Region.class, scene -> region(scene));
        add(MemoryBudget.class, scene -> new MemoryBudget(64 << 20));
        add(Safety.class, scene -> Safety.FAST);
        add(Duration.class, scene -> Duration.ofSeconds(30));
    }

    private static void doubles() {
        add(MemorySource.class, FaultScene::source);
        add(LeaseTrace.class, FaultScene::trace);
        add(Runnable.class, FaultScene::onRelease);
        BY_TYPE.put(Consumer.class, scene ->
                (Consumer<Object>) told -> scene.points().reach("Consumer.accept"));
        add(ReadableByteChannel.class, scene -> Doubles.readable(scene.points(), FaultScene.bytes(900, 6)));
        add(WritableByteChannel.class, scene -> Doubles.writable(scene.points()));
        add(GatheringByteChannel.class, scene -> Doubles.writable(scene.points()));
        add(Appendable.class, scene -> Doubles.appendable(scene.points()));
        add(CharSequence.class, scene -> Doubles.characters(scene.points(), "a text of 19 letters"));
        add(SlabSupplier.class, scene -> new FaultySupplier(scene.points()));
        add(SegmentAllocator.class, scene -> Doubles.allocator(scene.points()));
        add(Codec.class, scene -> Doubles.codec(scene.points()));
        add(DirectBuffer.class, scene -> foreign(scene, DirectBuffer.class, readOnly(scene)));
        add(MutableDirectBuffer.class, scene -> foreign(scene, MutableDirectBuffer.class, writable(scene)));
    }

    private static void values() {
        add(WireFormat.class, scene -> FORMAT);
        add(DataType.class, scene -> DataType.INT32);
        add(Limits.class, scene -> Limits.DEFAULT);
        add(TextMode.class, scene -> TextMode.ESCAPED);
        add(Charset.class, scene -> StandardCharsets.ISO_8859_1);
        add(FloatText.class, scene -> FloatText.LOSSLESS);
        add(Proc.class, scene -> new Proc("job", 1));
        add(Value.class, scene -> Value.of("value"));
        add(Info.class, scene -> new Info("key", 0, Value.of("value")));
        add(Packer.class, scene -> Packer.into(scene.builder(16), FORMAT));
        add(
                Unpacker.class,
                scene -> unpacker(scene, packer -> packer.packInt32(1).packString("text")));
    }

    /// A source of the scene's own, to be used up by the operation.
    static ArenaSource arena(FaultScene scene) {
        return scene.own(ArenaSource.builder()
                .budget(new MemoryBudget(64 << 20))
                .chunkBytes(64 << 10)
                .trace(scene.trace())
                .build());
    }

    static MemorySource.Region region(FaultScene scene) {
        return released(scene, scene.source().allocate(LENGTH));
    }

    /// Has the scene give a region back.
    static MemorySource.Region released(FaultScene scene, MemorySource.Region region) {
        AutoCloseable back = region::release;
        scene.own(back);
        return region;
    }

    /// A reader over regions that are small, watched.
    static Unpacker unpacker(FaultScene scene, Consumer<Packer> items) {
        return scene.watch(Unpacker.of(packed(scene, FORMAT, items), FORMAT));
    }

    static SealedBuffer packed(FaultScene scene, WireFormat format, Consumer<Packer> items) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(scene.source(), NUMBER)) {
            items.accept(Packer.into(builder, format));
            return scene.own(builder.seal());
        }
    }

    private static <T extends DirectBuffer> T foreign(FaultScene scene, Class<T> type, T real) {
        return Doubles.each(scene.points(), type, real);
    }

    private static DirectBuffer readOnly(FaultScene scene) {
        return SealedDirectBuffer.of(IoVec.of(Arena.ofAuto().allocate(LENGTH)));
    }

    private static MutableDirectBuffer writable(FaultScene scene) {
        return BuilderDirectBuffer.of(scene.own(BufferBuilder.create(new io.bulla.testkit.PoisoningSource(null))));
    }

    /// What [FaultPoints] may fail of a count of one's own.
    static final class Counted extends RefCount {

        private final FaultPoints points;
        int freed;

        Counted(FaultScene scene) {
            super(scene.trace());
            this.points = scene.points();
        }

        void back(int holders) {
            release(holders);
        }

        @Override
        protected void free() {
            freed++;
            points.reach("RefCount.free, done");
        }
    }

    /// A claim of one's own.
    static final class Claim extends Lease {

        Claim(RefCount count) {
            super(count);
        }

        static Claim first(FaultScene scene) {
            Claim claim = scene.own(new Claim(new Counted(scene)));
            claim.opened("first");
            return claim;
        }

        Claim another() {
            return new Claim(count());
        }
    }
}
