// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricProvider;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.posix.PosixException;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Registered memory as it is used elsewhere, and as it is used here: docs/registration.md. Arguments:
/// `--rounds N`, `--keys N`, `--reads N`, `--kills N`, `--seed N`, `--only PART`, which is `keys`, `kernel`, or a
/// provider of libfabric's.
public final class RegistrationCheck {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String ALL = "all";
    private static final List<String> PROVIDERS = List.of("tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm");
    // those with which bytes of the dead were always seen; a race with the others, or one step
    private static final List<String> LATE = List.of("tcp;ofi_rxm");
    private static final int OLD_ROUNDS = 300;
    private static final int ARENAS = 50;
    private static final int OLD_KILLS = 10;
    private static final int LATE_WRITES = 3;

    private final List<String> words;
    private final String only;
    private final List<String> skipped = new ArrayList<>();
    private String keys = "keys-twice=-";
    private String kernel = "stale-sends-old=- stale-sends=- late-bytes-old=- late-bytes=-";
    private String fabric = "kills=- old-dead-bytes=- dead-bytes=-";
    private String late = "old-key-bytes-old=- old-key-bytes=-";
    private long killed;
    private long deadOld;
    private long dead;
    private long byOldKeysOld;
    private long byOldKeys;
    private boolean wrong;

    private RegistrationCheck(List<String> words) {
        this.words = words;
        this.only = words.contains("--only") ? words.get(words.indexOf("--only") + 1) : ALL;
        if (!List.of(ALL, "keys", "kernel").contains(only) && !PROVIDERS.contains(only)) {
            throw new IllegalArgumentException("unknown part: only=" + only + " parts=[keys, kernel] and " + PROVIDERS);
        }
    }

    /// Ends with a line of figures, and with status 1 if one of them is wrong: ours must lose nothing, and the
    /// old way must be seen to.
    ///
    /// @param args see above
    /// @throws Exception if the system refuses
    public static void main(String... args) throws Exception {
        new RegistrationCheck(List.of(args)).run();
    }

    private void run() throws Exception {
        // before anything of a fabric is used
        Loading loading = new Loading();
        if (isAsked("keys")) {
            keys((int) number("--keys", 10_000_000));
        }
        if (isAsked("kernel")) {
            kernel(number("--rounds", 1_000_000), (int) number("--reads", 100), number("--seed", System.nanoTime()));
        }
        List<String> here = providers();
        wrong |= !here.isEmpty() && !loading.leavesTheProcessAsItWas();
        for (String provider : PROVIDERS) {
            if (!isAsked(provider)) {
                continue;
            }
            if (here.contains(provider)) {
                kills(provider, (int) number("--kills", 100));
                lateWrites(provider);
            } else {
                skipped.add(provider + ": not here");
            }
        }
        System.out.println("registration: " + fabric + " " + late + " " + keys + " " + kernel + " skipped=" + skipped);
        System.exit(wrong ? 1 : 0);
    }

    /// Grants on one landing, each revoked.
    private void keys(int count) throws Exception {
        long[] all = new long[count];
        try (SlabSource memory = SlabSource.create();
                Registrations registrations = Registrations.of(new AtOnce(), new PinBudget(0));
                RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 64)) {
            for (int i = 0; i < count; i++) {
                var grant = landing.grant(new Peer(i, "peer"));
                all[i] = grant.key();
                grant.revoke(PATIENCE);
            }
        }
        Arrays.sort(all);
        long twice = 0;
        for (int i = 1; i < count; i++) {
            twice += all[i] == all[i - 1] ? 1 : 0;
        }
        System.out.println("keys: granted=" + count + " twice=" + twice);
        keys = "keys-twice=" + twice;
        wrong |= twice > 0;
    }

    private void kernel(long rounds, int reads, long seed) throws Exception {
        if (!hasTables()) {
            skipped.add("io_uring: not here");
            return;
        }
        System.out.println("kernel: rounds=" + rounds + " reads=" + reads + " seed=" + seed);
        Ring ring = new Ring(seed);
        long staleOld = ring.oldSends(OLD_ROUNDS);
        long arenasOld = ring.oldArenas(ARENAS);
        System.out.println("old sends: rounds=" + OLD_ROUNDS + " stale=" + staleOld + " arenas=" + ARENAS
                + " stale-arenas=" + arenasOld);
        long stale = ring.sends(rounds) + ring.arenas(ARENAS);
        System.out.println("sends: stale=" + stale + " arenas=" + ARENAS + " arenas-closed=" + ring.arenasGone() + " "
                + ring.figures());
        long lateOld = ring.oldReads(reads);
        long lateBytes = ring.reads(reads);
        System.out.println("reads: old=" + reads + " ours=" + reads + " clean=" + ring.clean());
        wrong |= staleOld == 0 || stale > 0 || ring.arenasGone() == 0;
        // another allocator may keep what an arena gives back
        wrong |= arenasOld == 0 && System.getenv("LD_PRELOAD") == null;
        wrong |= lateOld == 0 || lateBytes > 0 || ring.clean() < reads;
        kernel = "stale-sends-old=" + (staleOld + arenasOld) + " stale-sends=" + stale + " late-bytes-old=" + lateOld
                + " late-bytes=" + lateBytes;
    }

    private void kills(String provider, int kills) throws Exception {
        Kills run = new Kills(provider);
        int old = Math.min(kills, LATE.contains(provider) ? OLD_KILLS : 2);
        long hisOld = run.old(old);
        long his = run.ours(kills, true);
        long[] millis = run.millis();
        System.out.println("kills: provider=" + provider + " old=" + old + " ours=" + kills + " clean=" + run.clean()
                + " third=[" + run.thirdSaid() + "] death-to-usable-ms p50=" + millis[kills / 2] + " p99="
                + millis[(int) Math.ceil(0.99 * kills) - 1] + " longest=" + millis[kills - 1] + " old-dead-bytes="
                + hisOld + " dead-bytes=" + his);
        wrong |= LATE.contains(provider) && hisOld == 0 || his > 0 || run.clean() < kills || !run.isThirdWell();
        killed += kills;
        deadOld += hisOld;
        dead += his;
        fabric = "kills=" + killed + " old-dead-bytes=" + deadOld + " dead-bytes=" + dead;
    }

    private void lateWrites(String provider) throws Exception {
        LateWrites run = new LateWrites(provider);
        long old = run.old(LATE_WRITES);
        long ours = run.ours(LATE_WRITES);
        Map<String, Integer> answers = run.answers();
        System.out.println("old keys: provider=" + provider + " writes=" + LATE_WRITES
                + " bytes-in-the-next-message-old=" + old + " wrong-bytes=" + ours + " writers-were-told=" + answers);
        wrong |= old == 0 || ours > 0 || answers.containsKey("success");
        byOldKeysOld += old;
        byOldKeys += ours;
        late = "old-key-bytes-old=" + byOldKeysOld + " old-key-bytes=" + byOldKeys;
    }

    /// Those that libfabric has here.
    private List<String> providers() {
        try {
            return FabricProvider.all().stream().map(FabricProvider::name).toList();
        } catch (FabricException missing) {
            System.out.println("fabric: " + missing.getMessage());
            return List.of();
        }
    }

    private static boolean hasTables() {
        try (FixedBufferTable any = FixedBufferTable.open(1)) {
            return any.filled() == 0;
        } catch (PosixException none) {
            return false;
        }
    }

    private boolean isAsked(String part) {
        boolean asked = only.equals(ALL) || only.equals(part);
        if (!asked) {
            skipped.add(part + ": not asked for");
        }
        return asked;
    }

    private long number(String name, long otherwise) {
        return words.contains(name) ? Long.parseLong(words.get(words.indexOf(name) + 1)) : otherwise;
    }
}
