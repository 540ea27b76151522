// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.checks.registration.Kills;
import java.util.Arrays;

/// Kills processes in the middle of a write, and prints the milliseconds from a death to the memory's next use that
/// 99 of 100 stay below; of fewer kills the longest. Arguments: provider, kills.
public final class UsableAgain {

    private UsableAgain() {}

    public static void main(String... args) throws Exception {
        int kills = Integer.parseInt(args[1]);
        Kills run = new Kills(args[0]);
        long dead = run.ours(kills, false);
        if (dead > 0 || run.clean() < kills || !run.isThirdWell()) {
            throw new IllegalStateException(
                    "dead-bytes=" + dead + " clean=" + run.clean() + " third: " + run.thirdSaid());
        }
        long[] millis = run.millis();
        System.out.println("millis=" + Arrays.toString(millis));
        // sorted; a ratio needs a number
        System.out.println(Math.max(1, millis[(int) Math.ceil(0.99 * kills) - 1]));
    }
}
