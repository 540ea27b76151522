// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import org.jspecify.annotations.Nullable;

/// What a value is, under one name for both families; each format has its own id for it, or does not know it.
///
/// Sources of the ids, in the order of the columns below
/// 1. Open MPI 4.1, `opal/dss/dss_types.h`.
/// 2. Open MPI of August 2012, the same file, and `orte/include/orte/types.h` from 31 on.
/// 3. PMIx 4.2 to 6.1, `pmix_types.h` and `pmix_common.h`. [WireFormat#PMIX_3] knows the ids up to 46.
///
/// Open MPI renumbered its ids between releases without a version on the wire. They are fixed here for good.
public enum DataType {
    /// No value; only inside a [Value] or [DataArray].
    UNDEF(0, 0, 0, Wire.NOTHING),
    /// Eight bits.
    BYTE(1, 1, 2, Wire.INT8),
    /// A truth value.
    BOOL(2, 2, 1, Wire.BOOL),
    /// UTF-8 with a terminating zero; null and empty are different.
    STRING(3, 3, 3, Wire.STRING),
    /// `size_t`, a `long` without a sign.
    SIZE(4, 4, 4, Wire.UINT64),
    /// `pid_t`, tagged with the sender's width.
    PID(5, 5, 5, Wire.UINT32),
    /// `int`.
    INT(6, 6, 6, Wire.INT32),
    /// Eight bits, signed.
    INT8(7, 7, 7, Wire.INT8),
    /// 16 bits, signed.
    INT16(8, 8, 8, Wire.INT16),
    /// 32 bits, signed.
    INT32(9, 9, 9, Wire.INT32),
    /// 64 bits, signed.
    INT64(10, 10, 10, Wire.INT64),
    /// `unsigned int`: its 32 bits travel as a *signed* number, as C has it. Not the bytes of [#UINT32].
    UINT(11, 11, 11, Wire.INT32),
    /// Eight bits, unsigned.
    UINT8(12, 12, 12, Wire.INT8),
    /// 16 bits, unsigned.
    UINT16(13, 13, 13, Wire.UINT16),
    /// 32 bits, unsigned.
    UINT32(14, 14, 14, Wire.UINT32),
    /// 64 bits, unsigned.
    UINT64(15, 15, 15, Wire.UINT64),
    /// A number as text, see [FloatText].
    FLOAT(16, -1, 16, Wire.FLOAT),
    /// A number as text, see [FloatText].
    DOUBLE(17, -1, 17, Wire.DOUBLE),
    /// `struct timeval`.
    TIMEVAL(18, -1, 18, Timeval.class),
    /// `time_t`, seconds.
    TIME(19, -1, 19, Wire.UINT64),
    /// An error code.
    STATUS(32, -1, 20, Wire.INT32),
    /// A type and a value.
    VALUE(-1, -1, 21, Value.class),
    /// A process: name space and rank.
    PROC(-1, -1, 22, Proc.class),
    /// A program to start.
    APP(-1, -1, 23, App.class),
    /// A directive: key, flags, value.
    INFO(-1, -1, 24, Info.class),
    /// Published data: process, key, value.
    PDATA(-1, -1, 25, Pdata.class),
    /// A packed buffer as a value.
    BUFFER(27, -1, 26, NestedBuffer.class),
    /// A length and bytes.
    BYTE_OBJECT(20, 16, 27, Wire.BYTES),
    /// A key and a value. OPAL calls it `OPAL_VALUE`.
    KVAL(26, 22, 28, Kval.class),
    /// How long published data stays.
    PERSIST(-1, -1, 30, Wire.INT8),
    /// A pointer, of which only a mark travels.
    POINTER(-1, -1, 31, Wire.MARK),
    /// Who sees a key.
    SCOPE(-1, -1, 32, Wire.INT8),
    /// Who sees published data.
    DATA_RANGE(-1, -1, 33, Wire.INT8),
    /// What a client asks of its server.
    COMMAND(-1, -1, 34, Wire.INT8),
    /// Flags of an [Info].
    INFO_DIRECTIVES(-1, -1, 35, Wire.UINT32),
    /// A type id; one byte in OPAL, two in PMIx.
    DATA_TYPE(21, 17, 36, Wire.UINT16),
    /// State of a process.
    PROC_STATE(-1, -1, 37, Wire.INT8),
    /// What is known of a process.
    PROC_INFO(-1, -1, 38, ProcInfo.class),
    /// A type and values of it.
    DATA_ARRAY(-1, -1, 39, DataArray.class),
    /// A rank, see [Proc].
    PROC_RANK(-1, -1, 40, Wire.UINT32),
    /// Keys asked for, and qualifiers.
    QUERY(-1, -1, 41, Query.class),
    /// A string, compressed: see [Compressed].
    COMPRESSED_STRING(-1, -1, 42, Wire.BYTES),
    /// A request about an allocation.
    ALLOC_DIRECTIVE(-1, -1, 43, Wire.INT8),
    /// Which of stdin, stdout, stderr.
    IOF_CHANNEL(-1, -1, 45, Wire.UINT16),
    /// A change to an environment.
    ENVAR(39, -1, 46, Envar.class),
    /// A place in a fabric.
    COORD(-1, -1, 47, Coord.class),
    /// An attribute that is supported.
    REGATTR(-1, -1, 48, RegAttr.class),
    /// State of a job.
    JOB_STATE(-1, -1, 50, Wire.INT8),
    /// State of a link.
    LINK_STATE(-1, -1, 51, Wire.INT8),
    /// Where a process is bound, as hwloc's list; null when unbound.
    PROC_CPUSET(-1, -1, 52, Wire.STRING),
    /// Where a device is in its fabrics.
    GEOMETRY(-1, -1, 53, Geometry.class),
    /// How far a device is.
    DEVICE_DIST(-1, -1, 54, DeviceDistance.class),
    /// An address of a device.
    ENDPOINT(-1, -1, 55, Endpoint.class),
    /// Kind of a device.
    DEVTYPE(-1, -1, 57, Wire.UINT64),
    /// How close a process is.
    LOCTYPE(-1, -1, 58, Wire.UINT16),
    /// A byte object, compressed: see [Compressed].
    COMPRESSED_BYTE_OBJECT(-1, -1, 59, Wire.BYTES),
    /// A name space.
    PROC_NSPACE(-1, -1, 60, Wire.STRING),
    /// A packed buffer as a value, without a word on whether it is described.
    DATA_BUFFER(-1, -1, 65, Wire.BYTES),
    /// Kind of storage.
    STOR_MEDIUM(-1, -1, 66, Wire.UINT64),
    /// Who reaches storage.
    STOR_ACCESS(-1, -1, 67, Wire.UINT64),
    /// How long storage stays.
    STOR_PERSIST(-1, -1, 68, Wire.UINT64),
    /// Reading or writing.
    STOR_ACCESS_TYPE(-1, -1, 69, Wire.UINT16),
    /// A zero byte.
    NULL(22, 18, -1, Wire.ZERO),
    /// A process of Open MPI: job and number in it.
    NAME(29, 32, -1, Name.class),
    /// A job of Open MPI.
    JOBID(30, 34, -1, Wire.UINT32),
    /// A number of a process in its job.
    VPID(31, 33, -1, Wire.UINT32);

    private static final DataType[] ALL = values();

    private final int[] ids;
    private final Wire wire;
    private final Class<?> javaClass;

    DataType(int opal, int opal2012, int pmix, Wire wire) {
        this(opal, opal2012, pmix, wire, wire.javaClass());
    }

    DataType(int opal, int opal2012, int pmix, Class<? extends Composite> javaClass) {
        this(opal, opal2012, pmix, Wire.COMPOSITE, javaClass);
    }

    DataType(int opal, int opal2012, int pmix, Wire wire, Class<?> javaClass) {
        this.ids = new int[] {opal, opal2012, pmix};
        this.wire = wire;
        this.javaClass = javaClass;
    }

    /// The id that stands on the wire.
    ///
    /// @param format which ids
    /// @return 0 to 255
    /// @throws IllegalArgumentException if the format does not know the type
    public int id(WireFormat format) {
        int id = idOrMinus(format);
        if (id < 0) {
            throw new IllegalArgumentException("type is unknown to the format: type=" + this + " format=" + format);
        }
        return id;
    }

    /// Tells whether a format knows the type.
    ///
    /// @param format which ids
    /// @return false if the type cannot be packed in it
    public boolean isIn(WireFormat format) {
        return idOrMinus(format) >= 0;
    }

    /// What Java holds a value in: a box, a `String`, an [io.bulla.iovec.IoVec], a record; `Void` if there is
    /// nothing to hold.
    ///
    /// @return a class
    public Class<?> javaClass() {
        return javaClass;
    }

    /// The type of an id.
    static @Nullable DataType ofId(WireFormat format, int id) {
        for (DataType type : ALL) {
            if (type.idOrMinus(format) == id) {
                return type;
            }
        }
        return null;
    }

    static String nameOf(WireFormat format, int id) {
        DataType type = ofId(format, id);
        return type == null ? Integer.toString(id) : type.name();
    }

    /// The type that a record is of.
    static DataType of(Class<? extends Composite> composite) {
        for (DataType type : ALL) {
            if (type.javaClass == composite) {
                return type;
            }
        }
        throw new IllegalArgumentException("not a type of its own: class=" + composite.getSimpleName());
    }

    Wire wire() {
        return wire;
    }

    /// Refuses a value that Java would hold otherwise.
    void check(@Nullable Object value) {
        boolean mayBeNull = wire == Wire.STRING || javaClass == Void.class;
        if (value == null ? !mayBeNull : !javaClass.isInstance(value)) {
            throw new IllegalArgumentException("value does not fit its type: type=" + this + " expected="
                    + javaClass.getSimpleName() + " found="
                    + (value == null ? "null" : value.getClass().getSimpleName()));
        }
    }

    private int idOrMinus(WireFormat format) {
        int id = ids[format.idColumn()];
        return id <= format.maxId() ? id : -1;
    }
}
