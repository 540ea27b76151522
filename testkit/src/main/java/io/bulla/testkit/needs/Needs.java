// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/// Skips a test, or each test of a class, by name where a piece of the machine is missing.
///
/// The piece is tried before the methods with `@BeforeEach`. If it is missing, neither they nor those with
/// `@AfterEach` run.
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(Needs.All.class)
@ExtendWith(NeedsCondition.class)
public @interface Needs {

    /// @return what is needed
    Piece value();

    /// @return what tries it; by default the piece's own probe, which not every piece has
    Class<? extends Probe> by() default Piece.OwnProbe.class;

    /// Several needs of one test.
    @Documented
    @Inherited
    @Target({ElementType.TYPE, ElementType.METHOD})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(NeedsCondition.class)
    @interface All {

        /// @return the needs
        Needs[] value();
    }
}
