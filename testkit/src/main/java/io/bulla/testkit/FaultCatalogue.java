// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Calls for each public operation of a module: by a rule for its class and the types of its parameters, or by a call
/// of its own. An operation that has neither is missing.
public final class FaultCatalogue {

    /// One operation, for a call in the middle of more: [#around].
    @FunctionalInterface
    public interface Member {
        /// Calls it.
        ///
        /// @param receiver `null` for a static method or a constructor
        /// @param arguments as the operation declares them
        /// @return its result
        /// @throws Exception as the operation does
        @Nullable
        Object on(@Nullable Object receiver, @Nullable Object... arguments) throws Exception;
    }

    private static final Pattern TYPE = Pattern.compile("^public .*?\\b([a-z]\\w*(?:\\.[a-z]\\w*)+)\\.[A-Z]");

    private final String area;
    private final Set<String> packages = new TreeSet<>();
    private final Map<String, Executable> operations;
    private final Map<Class<?>, List<Function<FaultScene, ?>>> receivers = new LinkedHashMap<>();
    private final Map<String, List<Function<Executable, Operation>>> calls = new LinkedHashMap<>();
    // by the runs so far, of those that are given a handle
    private final Set<Executable> lookedAt = new HashSet<>();
    private Function<Class<?>, @Nullable Function<FaultScene, Object>> values = type -> null;
    private Function<Class<?>, @Nullable Function<FaultScene, Object>> records = type -> null;

    /// The operations of packages, none of which can be run yet.
    ///
    /// @param area names the reports
    /// @param anchors a class of each package
    public FaultCatalogue(String area, Class<?>... anchors) {
        this.area = area;
        this.operations = new LinkedHashMap<>();
        for (Class<?> anchor : anchors) {
            packages.add(anchor.getPackageName());
            operations.putAll(PublicOperations.of(anchor));
        }
    }

    /// Where the arguments come from of calls that have no arguments of their own.
    ///
    /// @param of nothing for a type that has none
    /// @return this
    public FaultCatalogue values(Function<Class<?>, @Nullable Function<FaultScene, Object>> of) {
        values = of;
        return this;
    }

    /// Where the records come from whose methods have no receiver by a rule; of an enum it is the first constant.
    ///
    /// @param of nothing for a record that has none
    /// @return this
    public FaultCatalogue records(Function<Class<?>, @Nullable Function<FaultScene, Object>> of) {
        records = of;
        return this;
    }

    /// A rule: the receivers of every method of a class that has no call of its own.
    ///
    /// @param type whose methods
    /// @param receiver one of perhaps several
    /// @param <T> its type
    /// @return this
    public <T> FaultCatalogue receiver(Class<T> type, Function<FaultScene, ? extends T> receiver) {
        receivers.computeIfAbsent(type, none -> new ArrayList<>()).add(receiver);
        return this;
    }

    /// A call of its own, one of perhaps several.
    ///
    /// @param signature as `SealedBuffer.share(Object)`
    /// @param call made for each step
    /// @return this
    public FaultCatalogue on(String signature, Function<FaultScene, FaultCall> call) {
        return add(signature, operation -> scene -> call.apply(scene).action(operation, scene, lookedAt));
    }

    /// A way of its own, one of perhaps several: it makes what the operation needs and looks at what came of it,
    /// within the step. The operation is called through the member only, so that what runs is what the signature
    /// names.
    ///
    /// @param signature as `SealedBuffer.share(Object)`
    /// @param way fails where it passes without a call of the member
    /// @return this
    public FaultCatalogue around(String signature, Function<Member, Operation> way) {
        return add(signature, operation -> scene -> {
            boolean[] called = {false};
            Action action = way.apply((receiver, arguments) -> {
                        called[0] = true;
                        return FaultCall.on(receiver, arguments)
                                .action(operation, scene, lookedAt)
                                .run();
                    })
                    .prepare(scene);
            return () -> {
                Object result = action.run();
                if (!called[0]) {
                    throw new IllegalStateException("operation is not called: signature=" + signature);
                }
                return result;
            };
        });
    }

    private FaultCatalogue add(String signature, Function<Executable, Operation> way) {
        calls.computeIfAbsent(signature, none -> new ArrayList<>()).add(way);
        return this;
    }

    /// The same receivers as by the rule, other arguments.
    ///
    /// @param signature as `SealedBuffer.share(Object)`
    /// @param arguments as the operation declares them
    /// @return this
    /// @throws IllegalStateException if there is no such operation
    public FaultCatalogue arguments(String signature, @Nullable Object... arguments) {
        Executable operation = operations.get(signature);
        if (operation == null) {
            throw new IllegalStateException("no such operation: signature=" + signature);
        }
        return byRule(signature, operation, scene -> arguments);
    }

    /// The name of the reports.
    ///
    /// @return as it was given
    public String area() {
        return area;
    }

    /// The packages whose operations these are.
    ///
    /// @return their names
    public Set<String> packages() {
        return Set.copyOf(packages);
    }

    /// Every operation.
    ///
    /// @return as `SealedBuffer.share(Object)`, in the order of the class files
    public Set<String> signatures() {
        return Collections.unmodifiableSet(operations.keySet());
    }

    /// Operations that cannot be run: no receiver, or a parameter without a value. And calls of no operation.
    ///
    /// @return a line each
    public List<String> missing() {
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

    /// Fails a test if an operation of a module has no fault run, or a package of it is not in the catalogue.
    ///
    /// @param api the module's `api.txt`, whose types stand with their packages
    /// @throws IOException if it cannot be read
    /// @throws AssertionError which names all that is missing
    public void checkWhole(Path api) throws IOException {
        Set<String> published = new TreeSet<>();
        for (String line : Files.readAllLines(api)) {
            Matcher type = TYPE.matcher(line);
            if (type.find()) {
                published.add(type.group(1));
            }
        }
        List<String> missing = missing();
        if (!missing.isEmpty() || !published.equals(packages)) {
            throw new AssertionError("not every operation is run: area=" + area + " missing=" + missing + " packages="
                    + packages + " published=" + published);
        }
    }

    /// Runs every operation while each foreign call that it makes fails or calls back, prints the report, and fails a
    /// test if a promise did not hold.
    ///
    /// @param memories none for all of them
    /// @throws AssertionError if there is a violation; it names the first ones
    public void checkPromises(Memory... memories) {
        FaultRun run = new FaultRun(area).callingBack();
        if (memories.length > 0) {
            run.on(memories);
        }
        runs().forEach(run::operation);
        run.report().print().check();
    }

    /// Runs every operation that takes handles, as [#checkHandles(Predicate)].
    ///
    /// @throws AssertionError as there
    public void checkHandles() {
        checkHandles(signature -> true);
    }

    /// Runs every operation that takes handles, while nothing fails, and fails a test if a handle that it was given
    /// is closed after it though its name does not say `move`, or is open though it does; or if it was given none
    /// that is open. The runs of [#runs()] look at the same, whatever fails in them.
    ///
    /// @param of tells by its signature whether an operation is run
    /// @throws AssertionError which names the operation
    public void checkHandles(Predicate<String> of) {
        FaultRun run = new FaultRun(area).on(Memory.ARENA);
        List<String> unseen = new ArrayList<>();
        operations.forEach((signature, operation) -> {
            if (FaultCall.HandleRule.isGivenOne(operation) && of.test(signature)) {
                run.untouched(signature, runs(signature, operation));
                if (!lookedAt.contains(operation)) {
                    unseen.add(signature);
                }
            }
        });
        run.report().check();
        if (!unseen.isEmpty()) {
            throw new AssertionError("given no open handle by any run: area=" + area + " operations=" + unseen);
        }
    }

    /// Every operation by its signature, and the ways to run it.
    ///
    /// @return in the order of the class files
    public Map<String, List<Operation>> runs() {
        Map<String, List<Operation>> runs = new LinkedHashMap<>();
        operations.forEach((signature, operation) -> runs.put(signature, runs(signature, operation)));
        return runs;
    }

    private List<Operation> runs(String signature, Executable operation) {
        if (!calls.containsKey(signature)) {
            byRule(signature, operation, null);
        }
        return calls.getOrDefault(signature, List.of()).stream()
                .map(way -> way.apply(operation))
                .toList();
    }

    private FaultCatalogue byRule(
            String signature, Executable operation, @Nullable Function<FaultScene, @Nullable Object[]> arguments) {
        Function<FaultScene, @Nullable Object[]> given = arguments == null ? fixtures(operation) : arguments;
        if (given == null) {
            return this;
        }
        if (operation instanceof Constructor || Modifier.isStatic(operation.getModifiers())) {
            return on(signature, scene -> FaultCall.with(null, given));
        }
        for (Function<FaultScene, ?> receiver : receiversOf(signature, operation)) {
            on(signature, scene -> FaultCall.with(receiver.apply(scene), given));
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
            Function<FaultScene, Object> made =
                    declaring.isEnum() ? scene -> declaring.getEnumConstants()[0] : records.apply(declaring);
            return made == null ? List.of() : List.of(made);
        }
        return List.of();
    }

    private @Nullable Function<FaultScene, @Nullable Object[]> fixtures(Executable operation) {
        List<Function<FaultScene, Object>> given = new ArrayList<>();
        for (Class<?> parameter : operation.getParameterTypes()) {
            Function<FaultScene, Object> value = values.apply(parameter);
            if (value == null) {
                return null;
            }
            given.add(value);
        }
        return scene -> given.stream().map(value -> value.apply(scene)).toArray();
    }

    /// The values of the types of an operation's parameters.
    ///
    /// @param signature as `SealedBuffer.share(Object)`
    /// @param scene of the step
    /// @return made anew
    /// @throws IllegalStateException if there is no such operation, or a type has no value
    public @Nullable Object[] fixtures(String signature, FaultScene scene) {
        Executable operation = operations.get(signature);
        Function<FaultScene, @Nullable Object[]> given = operation == null ? null : fixtures(operation);
        if (given == null) {
            throw new IllegalStateException("no values for it: signature=" + signature);
        }
        return given.apply(scene);
    }
}
