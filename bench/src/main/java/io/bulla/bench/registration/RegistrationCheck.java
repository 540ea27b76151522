// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.interop.fabric.FabricException;
import io.bulla.interop.fabric.FabricProvider;
import io.bulla.interop.posix.FixedTable;
import io.bulla.interop.posix.PosixException;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.runtime.registration.Landing;
import io.bulla.runtime.registration.PinBudget;
import io.bulla.runtime.registration.Registrations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Registered memory as it is used elsewhere, and as it is used here: docs/registration.md. Arguments:
/// `--rounds N`,
/// `--keys N`, `--reads N`, `--kills N`, `--seed N`, `--only PART`, which is `keys`, `kernel`, `net` or
/// `tcp;ofi_rxm`.
public final class RegistrationCheck {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String ALL = "all";
    private static final List<String> PARTS = List.of(ALL, "keys", "kernel", "net", "tcp;ofi_rxm");
    private static final int OLD_ROUNDS = 300;
    private static final int OLD_KILLS = 10;

    private RegistrationCheck() {}

    /// Ends with a line of figures, and with status 1 if one of them is wrong: ours must lose nothing, and the
    /// old way must be seen to.
    ///
    /// @param args see above
    /// @throws Exception if the system refuses
    public static void main(String... args) throws Exception {
        List<String> words = List.of(args);
        long rounds = number(words, "--rounds", 1_000_000);
        int keys = (int) number(words, "--keys", 10_000_000);
        int reads = (int) number(words, "--reads", 100);
        long seed = number(words, "--seed", System.nanoTime());
        System.out.println("registration: rounds=" + rounds + " keys=" + keys + " reads=" + reads + " seed=" + seed);
        int kills = (int) number(words, "--kills", 100);
        String only = words.contains("--only") ? words.get(words.indexOf("--only") + 1) : ALL;
        if (!PARTS.contains(only)) {
            throw new IllegalArgumentException("unknown part: only=" + only + " parts=" + PARTS);
        }
        List<String> skipped = new ArrayList<>();
        // before anything of a fabric is used
        Loading loading = new Loading();
        long twice = 0;
        if (isAsked(only, "keys", skipped)) {
            twice = keysGivenTwice(keys);
            System.out.println("keys: granted=" + keys + " twice=" + twice);
        }
        String fabric = "kills=- old-dead-bytes=- dead-bytes=-";
        String kernel = "stale-sends-old=- stale-sends=- late-bytes-old=- late-bytes=-";
        boolean wrong = twice > 0;
        long killed = 0;
        long allDeadOld = 0;
        long allDead = 0;
        boolean asked = isAsked(only, "kernel", skipped);
        if (asked && hasTables()) {
            Ring ring = new Ring(seed);
            long staleOld = ring.oldSends(OLD_ROUNDS);
            System.out.println("old sends: rounds=" + OLD_ROUNDS + " stale=" + staleOld);
            long stale = ring.sends(rounds);
            System.out.println("sends: " + ring.figures());
            long deadOld = ring.oldReads(reads);
            long dead = ring.reads(reads);
            System.out.println("reads: old=" + reads + " ours=" + reads + " clean=" + ring.clean());
            wrong |= staleOld == 0 || stale > 0 || deadOld == 0 || dead > 0 || ring.clean() < reads;
            kernel = "stale-sends-old=" + staleOld + " stale-sends=" + stale + " late-bytes-old=" + deadOld
                    + " late-bytes=" + dead;
        } else if (asked) {
            skipped.add("io_uring: not here");
        }
        String lacks = lacksFabric();
        if (lacks == null) {
            wrong |= !loading.leavesTheProcessAsItWas();
            for (String provider : List.of("net", "tcp;ofi_rxm")) {
                if (!isAsked(only, provider, skipped)) {
                    continue;
                }
                Kills run = new Kills(provider);
                int old = Math.min(kills, OLD_KILLS);
                long deadOld = run.old(old);
                long dead = run.ours(kills);
                long[] millis = run.millis();
                System.out.println("kills: provider=" + provider + " old=" + old + " ours=" + kills + " clean="
                        + run.clean() + " third-writes=" + run.thirdWrites() + " death-to-usable-longest-ms="
                        + millis[millis.length - 1] + " old-dead-bytes=" + deadOld + " dead-bytes=" + dead);
                wrong |= deadOld == 0 || dead > 0 || run.clean() < kills || run.thirdWrites() < kills;
                killed += kills;
                allDeadOld += deadOld;
                allDead += dead;
                fabric = "kills=" + killed + " old-dead-bytes=" + allDeadOld + " dead-bytes=" + allDead;
            }
        } else {
            skipped.add(lacks);
        }
        System.out.println("registration: " + fabric + " keys-twice=" + twice + " " + kernel + " skipped=" + skipped);
        System.exit(wrong ? 1 : 0);
    }

    /// Grants on one landing, each revoked.
    private static long keysGivenTwice(int count) throws Exception {
        long[] keys = new long[count];
        try (SlabSource memory = SlabSource.create();
                Registrations registrations = Registrations.of(new AtOnce(), new PinBudget(0));
                Landing landing = registrations.landing(memory, 64)) {
            for (int i = 0; i < count; i++) {
                var grant = landing.grant(new Peer(i, "peer"));
                keys[i] = grant.key();
                grant.revoke(PATIENCE);
            }
        }
        Arrays.sort(keys);
        long twice = 0;
        for (int i = 1; i < count; i++) {
            twice += keys[i] == keys[i - 1] ? 1 : 0;
        }
        return twice;
    }

    private static @Nullable String lacksFabric() {
        try {
            List<String> names =
                    FabricProvider.all().stream().map(FabricProvider::name).toList();
            return names.contains("net") && names.contains("tcp;ofi_rxm") ? null : "fabric: providers=" + names;
        } catch (FabricException missing) {
            return "fabric: " + missing.getMessage();
        }
    }

    private static boolean hasTables() {
        try (FixedTable any = FixedTable.open(1)) {
            return any.filled() == 0;
        } catch (PosixException none) {
            return false;
        }
    }

    private static boolean isAsked(String only, String part, List<String> skipped) {
        boolean asked = only.equals(ALL) || only.equals(part);
        if (!asked) {
            skipped.add(part + ": not asked for");
        }
        return asked;
    }

    private static long number(List<String> words, String name, long otherwise) {
        return words.contains(name) ? Long.parseLong(words.get(words.indexOf(name) + 1)) : otherwise;
    }
}
