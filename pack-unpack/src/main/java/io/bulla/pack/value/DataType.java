// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import org.jspecify.annotations.Nullable;

/// The type of a value, under one name for both families. A format says which types it knows, and by which id:
/// [WireFormat#knows][io.bulla.pack.WireFormat#knows] and [WireFormat#id][io.bulla.pack.WireFormat#id].
public enum DataType {
    /// No value; only inside a [Value] or [DataArray].
    UNDEF(Wire.NOTHING),
    /// Eight bits.
    BYTE(Wire.INT8),
    /// A truth value.
    BOOL(Wire.BOOL),
    /// UTF-8 with a terminating zero; null and empty are different.
    STRING(Wire.STRING),
    /// `size_t`, a `long` without a sign.
    SIZE(Wire.UINT64),
    /// `pid_t`, tagged with the sender's width.
    PID(Wire.UINT32),
    /// `int`.
    INT(Wire.INT32),
    /// Eight bits, signed.
    INT8(Wire.INT8),
    /// 16 bits, signed.
    INT16(Wire.INT16),
    /// 32 bits, signed.
    INT32(Wire.INT32),
    /// 64 bits, signed.
    INT64(Wire.INT64),
    /// `unsigned int`: its 32 bits travel as a *signed* number, as C has it. Not the bytes of [#UINT32].
    UINT(Wire.INT32),
    /// Eight bits, unsigned.
    UINT8(Wire.INT8),
    /// 16 bits, unsigned.
    UINT16(Wire.UINT16),
    /// 32 bits, unsigned.
    UINT32(Wire.UINT32),
    /// 64 bits, unsigned.
    UINT64(Wire.UINT64),
    /// A number as text, see [FloatText][io.bulla.pack.FloatText].
    FLOAT(Wire.FLOAT),
    /// A number as text, see [FloatText][io.bulla.pack.FloatText].
    DOUBLE(Wire.DOUBLE),
    /// `struct timeval`.
    TIMEVAL(Timeval.class),
    /// `time_t`, seconds.
    TIME(Wire.UINT64),
    /// An error code.
    STATUS(Wire.INT32),
    /// A type and a value.
    VALUE(Value.class),
    /// A process: name space and rank.
    PROC(Proc.class),
    /// A program to start.
    APP(App.class),
    /// A directive: key, flags, value.
    INFO(Info.class),
    /// Published data: process, key, value.
    PDATA(Pdata.class),
    /// A packed buffer as a value.
    BUFFER(NestedBuffer.class),
    /// A length and bytes.
    BYTE_OBJECT(Wire.BYTES),
    /// A key and a value. OPAL calls it `OPAL_VALUE`.
    KVAL(Kval.class),
    /// How long published data stays.
    PERSIST(Wire.INT8),
    /// A pointer, of which only a mark travels.
    POINTER(Wire.MARK),
    /// Who sees a key.
    SCOPE(Wire.INT8),
    /// Who sees published data.
    DATA_RANGE(Wire.INT8),
    /// A command of a client to its server.
    COMMAND(Wire.INT8),
    /// Flags of an [Info].
    INFO_DIRECTIVES(Wire.UINT32),
    /// A type id; one byte in OPAL, two in PMIx.
    DATA_TYPE(Wire.UINT16),
    /// State of a process.
    PROC_STATE(Wire.INT8),
    /// Information about a process.
    PROC_INFO(ProcInfo.class),
    /// A type and values of it.
    DATA_ARRAY(DataArray.class),
    /// A rank, see [Proc].
    PROC_RANK(Wire.UINT32),
    /// Keys asked for, and qualifiers.
    QUERY(Query.class),
    /// A string, compressed: see [Compressed][io.bulla.pack.Compressed].
    COMPRESSED_STRING(Wire.BYTES),
    /// A request about an allocation.
    ALLOC_DIRECTIVE(Wire.INT8),
    /// Which of stdin, stdout, stderr.
    IOF_CHANNEL(Wire.UINT16),
    /// A change to an environment.
    ENVAR(Envar.class),
    /// A place in a fabric.
    COORD(Coord.class),
    /// An attribute that is supported.
    REGATTR(RegAttr.class),
    /// State of a job.
    JOB_STATE(Wire.INT8),
    /// State of a link.
    LINK_STATE(Wire.INT8),
    /// Where a process is bound, as hwloc's list; null when unbound.
    PROC_CPUSET(Wire.STRING),
    /// Where a device is in its fabrics.
    GEOMETRY(Geometry.class),
    /// How far a device is.
    DEVICE_DIST(DeviceDistance.class),
    /// An address of a device.
    ENDPOINT(Endpoint.class),
    /// Kind of a device.
    DEVTYPE(Wire.UINT64),
    /// How close a process is.
    LOCTYPE(Wire.UINT16),
    /// A byte object, compressed: see [Compressed][io.bulla.pack.Compressed].
    COMPRESSED_BYTE_OBJECT(Wire.BYTES),
    /// A name space.
    PROC_NSPACE(Wire.STRING),
    /// A packed buffer as a value, without a word on whether it is described.
    DATA_BUFFER(Wire.BYTES),
    /// Kind of storage.
    STOR_MEDIUM(Wire.UINT64),
    /// Who reaches storage.
    STOR_ACCESS(Wire.UINT64),
    /// How long storage stays.
    STOR_PERSIST(Wire.UINT64),
    /// Reading or writing.
    STOR_ACCESS_TYPE(Wire.UINT16),
    /// A zero byte.
    NULL(Wire.ZERO),
    /// A process of Open MPI: job and number in it.
    NAME(Name.class),
    /// A job of Open MPI.
    JOBID(Wire.UINT32),
    /// A number of a process in its job.
    VPID(Wire.UINT32);

    private static final DataType[] ALL = values();

    private final Wire wire;
    private final Class<?> javaClass;

    DataType(Wire wire) {
        this(wire, wire.javaClass());
    }

    DataType(Class<? extends Composite> javaClass) {
        this(Wire.COMPOSITE, javaClass);
    }

    DataType(Wire wire, Class<?> javaClass) {
        this.wire = wire;
        this.javaClass = javaClass;
    }

    /// What Java holds a value in: a box, a `String`, an [io.bulla.iovec.IoVec], a record; `Void` if there is
    /// nothing to hold.
    ///
    /// @return a class
    public Class<?> javaClass() {
        return javaClass;
    }

    /// The type that a record is of.
    ///
    /// @param composite a class of records
    /// @return the type whose values they are
    /// @throws IllegalArgumentException if it is no class of records
    public static DataType of(Class<? extends Composite> composite) {
        for (DataType type : ALL) {
            if (type.javaClass == composite) {
                return type;
            }
        }
        throw new IllegalArgumentException("not a type of its own: class=" + composite.getSimpleName());
    }

    /// How a value travels.
    ///
    /// @return the same in every format, but for [#DATA_TYPE], of which OPAL's have one byte
    public Wire wire() {
        return wire;
    }

    /// Refuses a value that Java would hold otherwise.
    ///
    /// @param value as [#javaClass] says; null for a null string and where there is nothing to hold
    /// @throws IllegalArgumentException if it is of another class
    public void check(@Nullable Object value) {
        boolean mayBeNull = wire == Wire.STRING || javaClass == Void.class;
        if (value == null ? !mayBeNull : !javaClass.isInstance(value)) {
            throw new IllegalArgumentException("value does not fit its type: type=" + this + " expected="
                    + javaClass.getSimpleName() + " found="
                    + (value == null ? "null" : value.getClass().getSimpleName()));
        }
    }
}
