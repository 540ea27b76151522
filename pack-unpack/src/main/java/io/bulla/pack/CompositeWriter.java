// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.value.App;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.Coord;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.DeviceDistance;
import io.bulla.pack.value.Endpoint;
import io.bulla.pack.value.Envar;
import io.bulla.pack.value.Geometry;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import io.bulla.pack.value.Wire;
import java.util.Collections;
import java.util.List;

/// The fields of each composite, in the order of the C libraries.
record CompositeWriter(ElementWriter elements, BufferBuilder out, WireFormat format) {

    void put(Composite value) {
        switch (value) {
            case Timeval time -> {
                elements.number(Wire.INT64, time.seconds());
                elements.number(Wire.INT64, time.microseconds());
            }
            case Name name -> elements.block(DataType.NAME, List.of(name));
            case Proc proc -> proc(proc);
            case Value one -> value(one);
            case Kval pair -> {
                elements.string(pair.key());
                value(pair.value());
            }
            case Info info -> {
                elements.string(info.key());
                elements.number(Wire.UINT32, info.flags() & 0xffff_ffffL);
                value(info.value());
            }
            case Pdata data -> {
                proc(data.proc());
                elements.string(data.key());
                value(data.value());
            }
            case NestedBuffer buffer -> buffer(buffer);
            case DataArray array -> array(array);
            case ProcInfo info -> {
                proc(info.proc());
                elements.string(info.host());
                elements.string(info.executable());
                elements.single(DataType.PID, info.pid() & 0xffff_ffffL);
                out.putByte(info.state());
            }
            case Query query -> {
                strings(query.keys(), DataType.INT32);
                infos(query.qualifiers());
            }
            case Envar variable -> {
                elements.string(variable.name());
                elements.string(variable.value());
                out.putByte(variable.separator());
            }
            case App app -> app(app);
            case Coord place -> {
                out.putByte(place.view());
                elements.single(DataType.SIZE, place.dimensions().size());
                elements.block(DataType.UINT32, place.dimensions());
            }
            case Geometry geometry -> {
                elements.single(DataType.SIZE, geometry.fabric());
                elements.string(geometry.uuid());
                elements.string(geometry.osName());
                elements.single(DataType.SIZE, geometry.coordinates().size());
                elements.block(DataType.COORD, geometry.coordinates());
            }
            case DeviceDistance distance -> {
                elements.string(distance.uuid());
                elements.string(distance.osName());
                elements.number(Wire.UINT64, distance.deviceType());
                elements.number(Wire.UINT16, distance.least() & 0xffff);
                elements.number(Wire.UINT16, distance.most() & 0xffff);
            }
            case Endpoint endpoint -> {
                elements.string(endpoint.uuid());
                elements.string(endpoint.osName());
                elements.object(DataType.ENDPOINT, endpoint.address());
            }
            case RegAttr attribute -> {
                elements.string(attribute.name());
                elements.string(attribute.key());
                elements.number(Wire.UINT16, attribute.type() & 0xffff);
                strings(attribute.description(), DataType.INT32);
            }
        }
    }

    private void proc(Proc proc) {
        elements.string(proc.namespace());
        elements.number(Wire.UINT32, proc.rank() & 0xffff_ffffL);
    }

    private void value(Value value) {
        DataType type = value.type();
        if (format.isPmix()) {
            refuseWhatCrashesC(type);
        } else if (!format.opalValueHolds(type)) {
            throw new IllegalArgumentException("C has no value of the type: type=" + type + " format=" + format);
        }
        elements.single(DataType.DATA_TYPE, format.id(type));
        if (format.isTaggedInValue(type)) {
            elements.tag(format.inValue(type));
        }
        elements.block(format.inValue(type), Collections.singletonList(value.data()));
    }

    /// The union of a C value has no room for these; readers up to 6.1.0 write past its end, and 4.2.2 packs the
    /// last one from a wrong address.
    private static void refuseWhatCrashesC(DataType type) {
        switch (type) {
            case VALUE, INFO, PDATA, APP, KVAL, BUFFER, DATA_BUFFER ->
                throw new IllegalArgumentException("a C reader would overwrite memory: value of type=" + type);
            default -> {}
        }
    }

    private void array(DataArray array) {
        elements.number(Wire.UINT16, format.id(array.type()));
        elements.single(DataType.SIZE, array.values().size());
        if (!array.values().isEmpty()) {
            elements.block(array.type(), array.values());
        }
    }

    private void buffer(NestedBuffer buffer) {
        if (format.isPmix()) {
            out.putByte((byte) (buffer.described() ? 2 : 1));
        } else if (buffer.described() != format.described()) {
            throw new IllegalArgumentException("OPAL does not say how a nested buffer is packed: described="
                    + buffer.described() + " format=" + format);
        }
        elements.object(DataType.BUFFER, buffer.bytes());
    }

    private void app(App app) {
        elements.string(app.command());
        strings(app.arguments(), DataType.INT);
        strings(app.environment(), DataType.INT32);
        elements.string(app.directory());
        elements.single(DataType.INT, app.maxProcesses());
        infos(app.info());
    }

    private void strings(List<String> texts, DataType countType) {
        elements.single(countType, texts.size());
        elements.block(DataType.STRING, texts);
    }

    private void infos(List<Info> infos) {
        elements.single(DataType.SIZE, infos.size());
        elements.block(DataType.INFO, infos);
    }
}
