// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.faults.taking.Taker;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The look at what an operation does with a handle: operations that do other than their names say are found.
class HandleRuleTest {

    private static final String ONE = "(SealedBuffer)";
    private static final String SEVERAL = "(SealedBuffer[])";

    @ParameterizedTest
    @ValueSource(strings = {"read", "moveIn", "onBufferMoved"})
    void operationThatDoesAsItsNameSaysIsClean(String name) {
        assertNull(check(name + ONE, HandleRuleTest::one));
    }

    @ParameterizedTest
    @CsvSource({
        "take, closed",
        "remove, closed",
        "takeAndFail, closed",
        "moveNothing, open",
    })
    void operationThatDoesOtherwiseIsFound(String name, String found) {
        assertFound(name, found, check(name + ONE, HandleRuleTest::one));
    }

    @ParameterizedTest
    @ValueSource(strings = {"takeOfSeveral", "takeTheSecond"})
    void handleAmongSeveralIsFound(String name) {
        assertFound(name, "closed", check(name + SEVERAL, scene ->
                new Object[] {new SealedBuffer[] {scene.buffer(3), scene.buffer(4)}}));
    }

    @Test
    void handleInAListIsFound() {
        assertFound("takeListed", "closed", check("takeListed(SealedBuffer, List)", scene ->
                new Object[] {scene.buffer(3), List.of(scene.buffer(4))}));
    }

    @Test
    void operationThatIsGivenClosedHandlesOnlyIsNotGreen() {
        FaultCatalogue all = catalogue("take" + ONE, scene -> {
            SealedBuffer closed = scene.buffer(3);
            closed.close();
            return new Object[] {closed};
        });
        assertEquals(
                "given no open handle by any run: area=taking operations=[Taker.take(SealedBuffer)]",
                assertThrows(AssertionError.class, () -> all.checkHandles("Taker.take(SealedBuffer)"::equals))
                        .getMessage());
    }

    private static void assertFound(String name, String found, @Nullable Throwable failure) {
        assertNotNull(failure);
        assertTrue(
                failure.getMessage().startsWith("a handle is " + found)
                        && failure.getMessage().contains("operation=Taker." + name + " "),
                failure::getMessage);
    }

    private static @Nullable Object[] one(FaultScene scene) {
        return new Object[] {scene.buffer(3)};
    }

    /// @return what the run of this operation alone fails with
    private static @Nullable Throwable check(String operation, Function<FaultScene, @Nullable Object[]> arguments) {
        FaultCatalogue all = catalogue(operation, arguments);
        @Nullable Throwable failure = null;
        try {
            all.checkHandles(("Taker." + operation)::equals);
        } catch (IllegalStateException failed) {
            failure = failed.getCause();
        }
        return failure;
    }

    private static FaultCatalogue catalogue(String operation, Function<FaultScene, @Nullable Object[]> arguments) {
        return new FaultCatalogue("taking", Taker.class)
                .on("Taker." + operation, scene -> FaultCall.with(new Taker(), arguments));
    }
}
