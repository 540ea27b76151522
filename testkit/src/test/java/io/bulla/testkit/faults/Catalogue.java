// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.value.DataType;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Registrar;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/// How each public operation of a module is run: by a rule for its class and the types of its parameters, or by a call
/// of its own. What has neither is missing.
final class Catalogue {

    private final String area;
    private final Set<String> packages = new TreeSet<>();
    private final Map<String, Executable> operations;
    private final Map<Class<?>, List<Function<FaultScene, ?>>> receivers = new LinkedHashMap<>();
    private final Map<String, List<Function<FaultScene, Call>>> calls = new LinkedHashMap<>();

    /// @param anchors a class of each package
    Catalogue(String area, Class<?>... anchors) {
        this.area = area;
        this.operations = new LinkedHashMap<>();
        for (Class<?> anchor : anchors) {
            packages.add(anchor.getPackageName());
            operations.putAll(PublicOperations.of(anchor));
        }
    }

    static List<Catalogue> all() {
        return List.of(refcount(), iovec(), buffer(), pack(), pool(), agrona());
    }

    static Catalogue refcount() {
        return RefCountCalls.in(new Catalogue("refcount", RefCount.class));
    }

    static Catalogue iovec() {
        return IoVecCalls.in(new Catalogue("iovec", IoVec.class));
    }

    static Catalogue buffer() {
        return BufferCalls.in(new Catalogue("buffer-core", SealedBuffer.class));
    }

    static Catalogue pack() {
        return PackCalls.in(new Catalogue("pack-unpack", Packer.class, DataType.class));
    }

    static Catalogue pool() {
        return PoolCalls.in(new Catalogue("pool", SlabSource.class, Registrar.class));
    }

    static Catalogue agrona() {
        return AgronaCalls.in(new Catalogue("agrona", BuilderDirectBuffer.class));
    }

    /// A rule: the receivers of every method of a class that has no call of its own.
    <T> Catalogue receiver(Class<T> type, Function<FaultScene, ? extends T> receiver) {
        receivers.computeIfAbsent(type, none -> new ArrayList<>()).add(receiver);
        return this;
    }

    /// A call of its own, one of perhaps several.
    Catalogue on(String signature, Function<FaultScene, Call> call) {
        calls.computeIfAbsent(signature, none -> new ArrayList<>()).add(call);
        return this;
    }

    /// The same receivers as by the rule, other arguments.
    Catalogue arguments(String signature, Object... arguments) {
        Executable operation = operations.get(signature);
        if (operation == null) {
            throw new IllegalStateException("no such operation: signature=" + signature);
        }
        return byRule(signature, operation, scene -> arguments);
    }

    String area() {
        return area;
    }

    Set<String> packages() {
        return packages;
    }

    /// Operations that cannot be run: no receiver, or a parameter without a value. And calls of no operation.
    List<String> missing() {
        TreeSet<String> missing = new TreeSet<>();
        operations.forEach((signature, operation) -> {
            if (runs(signature, operation).isEmpty()) {
                missing.add("no fault run: " + signature);
            }
        });
        for (String signature : calls.keySet()) {
            if (!operations.containsKey(signature)) {
                missing.add("no such operation: " + signature);
            }
        }
        return List.copyOf(missing);
    }

    /// Every operation by its signature, and the ways to run it.
    Map<String, List<Operation>> runs() {
        Map<String, List<Operation>> runs = new LinkedHashMap<>();
        operations.forEach((signature, operation) -> runs.put(signature, runs(signature, operation)));
        return runs;
    }

    private List<Operation> runs(String signature, Executable operation) {
        if (!calls.containsKey(signature)) {
            byRule(signature, operation, null);
        }
        return calls.getOrDefault(signature, List.of()).stream()
                .<Operation>map(call -> scene -> call.apply(scene).action(operation, scene))
                .toList();
    }

    private Catalogue byRule(String signature, Executable operation, Function<FaultScene, Object[]> arguments) {
        Function<FaultScene, Object[]> given = arguments == null ? fixtures(operation) : arguments;
        if (given == null) {
            return this;
        }
        if (operation instanceof Constructor || Modifier.isStatic(operation.getModifiers())) {
            return on(signature, scene -> Call.with(null, given));
        }
        for (Function<FaultScene, ?> receiver : receiversOf(signature, operation)) {
            on(signature, scene -> Call.with(receiver.apply(scene), given));
        }
        return this;
    }

    /// Of the class in the signature, which may inherit the method from one that is not public.
    private List<Function<FaultScene, ?>> receiversOf(String signature, Executable operation) {
        String owner = signature.substring(0, signature.lastIndexOf('.', signature.indexOf('(')));
        for (Map.Entry<Class<?>, List<Function<FaultScene, ?>>> rule : receivers.entrySet()) {
            if (PublicOperations.simple(rule.getKey()).equals(owner)) {
                return rule.getValue();
            }
        }
        Class<?> declaring = operation.getDeclaringClass();
        if (declaring.isRecord() || declaring.isEnum()) {
            Function<FaultScene, Object> made = Values.of(declaring);
            return made == null ? List.of() : List.of(made);
        }
        return List.of();
    }

    private static Function<FaultScene, Object[]> fixtures(Executable operation) {
        List<Function<FaultScene, Object>> values = new ArrayList<>();
        for (Class<?> parameter : operation.getParameterTypes()) {
            Function<FaultScene, Object> value = Fixtures.of(parameter);
            if (value == null) {
                return null;
            }
            values.add(value);
        }
        return scene -> values.stream().map(value -> value.apply(scene)).toArray();
    }

    /// The values of the types of an operation's parameters.
    Object[] fixtures(String signature, FaultScene scene) {
        return fixtures(operations.get(signature)).apply(scene);
    }
}
