// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.FloatText;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.App;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Value;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/// What a value is after it was packed and unpacked.
///
/// - A FLOAT or DOUBLE has six decimals, if it travels as `%f`.
/// - A DATA_TYPE that C unpacks from flex128 went there as an unsigned and comes back as a signed number.
///
/// @param floats how the first travels
/// @param zigzagged whether the second holds
record Expected(FloatText floats, boolean zigzagged) {

    /// What Java unpacks.
    static final Expected BY_JAVA = new Expected(FloatText.STRICT, false);

    /// What C unpacks.
    static Expected byC(WireFormat format, FloatText floats) {
        return new Expected(floats, format.described(false) == WireFormat.PMIX_4);
    }

    List<List<Object>> of(List<Item> items) {
        return items.stream().map(item -> all(item.type(), item.values())).toList();
    }

    private List<Object> all(DataType type, List<?> values) {
        List<Object> all = new ArrayList<>();
        values.forEach(value -> all.add(of(type, value)));
        return all;
    }

    private Object of(DataType type, Object value) {
        return switch (value) {
            case Float number when isRounded(number) -> Float.parseFloat(sixDecimals(number));
            case Double number when isRounded(number) -> Double.parseDouble(sixDecimals(number));
            case Short id when type == DataType.DATA_TYPE -> dataType(id);
            case Value one -> value(one);
            case Kval pair -> new Kval(pair.key(), value(pair.value()));
            case Info info -> info(info);
            case Pdata data -> new Pdata(data.proc(), data.key(), value(data.value()));
            case DataArray array -> new DataArray(array.type(), all(array.type(), array.values()));
            case RegAttr attribute ->
                new RegAttr(attribute.name(), attribute.key(), dataType(attribute.type()), attribute.description());
            case Query query -> new Query(query.keys(), infos(query.qualifiers()));
            case App app ->
                new App(
                        app.command(),
                        app.arguments(),
                        app.environment(),
                        app.directory(),
                        app.maxProcesses(),
                        infos(app.info()));
            case null, default -> value;
        };
    }

    private boolean isRounded(double number) {
        return floats == FloatText.STRICT && Double.isFinite(number);
    }

    private short dataType(short id) {
        int bits = id & 0xffff;
        return (short) (zigzagged ? bits >>> 1 ^ -(bits & 1) : bits);
    }

    private Value value(Value value) {
        return new Value(value.type(), of(value.type(), value.data()));
    }

    private Info info(Info info) {
        return new Info(info.key(), info.flags(), value(info.value()));
    }

    private List<Info> infos(List<Info> infos) {
        return infos.stream().map(this::info).toList();
    }

    private static String sixDecimals(double value) {
        BigDecimal rounded = new BigDecimal(value).setScale(6, RoundingMode.HALF_EVEN);
        boolean isNegativeZero = rounded.signum() == 0 && Math.copySign(1, value) < 0;
        return (isNegativeZero ? "-" : "") + rounded.toPlainString();
    }
}
