// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.KernelSend;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.SendTicket;
import io.bulla.refcount.held.Held;
import io.bulla.refcount.held.HeldMXBean;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.faults.Fixtures.Claim;
import io.bulla.testkit.faults.Fixtures.Counted;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;

/// How the operations of `refcount` are called.
final class RefCountCalls {

    private static final int ENOBUFS = 105;

    private RefCountCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        return counts(sends(traces(held(all))));
    }

    private static FaultCatalogue counts(FaultCatalogue all) {
        all.receiver(Lease.class, scene -> scene.buffer(300))
                .receiver(Lease.class, FaultScene::lastHandle)
                .receiver(Lease.class, Claim::first)
                .receiver(RefCount.class, Counted::new);
        all.on("Lease.close()", scene -> FaultCall.on(adopted(scene)));
        all.on("Lease.close()", scene -> FaultCall.on(joined(scene)));
        all.on("Lease.close()", scene -> FaultCall.on(scene.lastHandle()));
        all.on("Lease.close()", scene -> FaultCall.on(scene.buffer(300)));
        all.on("Lease.moveTo(Object, Lease)", scene -> {
            Claim from = Claim.first(scene);
            Claim to = from.another();
            return FaultCall.on(from, "tag", to).then(done -> scene.own(to));
        });
        all.on("Lease.retain(Object, Lease)", scene -> {
            Claim from = Claim.first(scene);
            Claim one = from.another();
            return FaultCall.on(from, "tag", one).then(done -> scene.own(one));
        });
        all.on("Lease.retain(Object, Lease[])", scene -> {
            Claim from = Claim.first(scene);
            Lease[] several = {from.another(), from.another(), from.another()};
            return FaultCall.on(from, "tag", several).then(done -> scene.own(several));
        });
        all.on("Lease.opened(Object)", scene -> FaultCall.on(scene.own(new Claim(new Counted(scene))), "tag"));
        all.on("RefCount.retain(int)", scene -> {
            Counted count = new Counted(scene);
            return FaultCall.on(count, 3).then(done -> count.back(3));
        });
        for (String release : new String[] {"release()", "release(int)"}) {
            all.on("RefCount." + release, scene -> {
                scene.onlyOnce();
                return FaultCall.on(new Counted(scene), release.endsWith("()") ? new Object[0] : new Object[] {1});
            });
        }
        return all;
    }

    private static SealedBuffer adopted(FaultScene scene) {
        return scene.own(SealedBuffer.adopt(Arena.ofAuto().allocate(64), scene.onRelease()));
    }

    /// The only holder of three adopted parts and of regions.
    private static SealedBuffer joined(FaultScene scene) {
        SealedBuffer[] parts = {adopted(scene), adopted(scene), scene.lastHandle(), adopted(scene)};
        SealedBuffer whole = scene.own(SealedBuffer.concat(parts));
        for (SealedBuffer part : parts) {
            part.close();
        }
        return whole;
    }

    private static FaultCatalogue sends(FaultCatalogue all) {
        all.receiver(SendTicket.class, scene -> new SendTicket(scene.lastHandle(), 1))
                .receiver(SendTicket.class, scene -> new SendTicket(scene.buffer(300), 2))
                .receiver(KernelSend.class, scene -> send(scene, false));
        all.on("KernelSend.accepted(long, boolean)", scene -> FaultCall.on(send(scene, true), 5L, false));
        all.on("KernelSend.accepted(long, boolean)", scene -> FaultCall.on(send(scene, true), 5L, true));
        all.on("KernelSend.notTaken(boolean)", scene -> FaultCall.on(send(scene, true), false));
        all.on("KernelSend.failed(int, boolean)", scene -> FaultCall.on(send(scene, true), ENOBUFS, false));
        all.on("KernelSend.giveUp(int)", scene -> FaultCall.on(send(scene, false), ENOBUFS));
        all.on("KernelSend.notified()", scene -> {
            KernelSend send = send(scene, true);
            send.accepted(5, true);
            return FaultCall.on(send);
        });
        return all;
    }

    private static KernelSend send(FaultScene scene, boolean begun) {
        KernelSend send = new KernelSend(scene.lastHandle(), 5);
        if (begun) {
            send.begin();
        }
        return send;
    }

    private static FaultCatalogue held(FaultCatalogue all) {
        all.receiver(HeldMXBean.class, scene -> new Held());
        all.on(
                "HeldMXBean.Handle.new(String, long, long, List)",
                scene -> FaultCall.on(null, "tag", 1L, 2L, List.of("frame")));
        for (String what : List.of(
                "Budgets",
                "HeldBytes",
                "Healed",
                "Oldest",
                "OldestMillis",
                "OpenHandles",
                "Peers",
                "Pools",
                "Sources",
                "Tags")) {
            for (String type : List.of("Held", "HeldMXBean")) {
                all.on(type + ".get" + what + "()", scene -> {
                    // it tells of all that lives in the process
                    scene.mayVary();
                    return FaultCall.on(new Held());
                });
            }
        }
        return all;
    }

    private static FaultCatalogue traces(FaultCatalogue all) {
        all.receiver(LeaseLedger.class, scene -> LeaseLedger.full().withStacks().withCloses())
                .receiver(LeaseTally.class, scene -> new LeaseTally())
                .receiver(LeaseTrace.class, FaultScene::trace);
        all.on("LeaseTrace.summary()", scene -> {
            // it says how old the oldest handle is
            scene.mayVary();
            return FaultCall.on(scene.trace());
        });
        for (String type : new String[] {"LeaseLedger", "LeaseTally"}) {
            all.on(type + ".opened(Lease, RefCount, Object)", scene -> {
                LeaseTrace trace = trace(type);
                Counted count = new Counted(scene);
                Lease lease = new Claim(count);
                return FaultCall.on(trace, lease, count, "tag").then(traced -> trace.closed(lease, traced));
            });
            all.on(type + ".closed(Lease, Object)", scene -> {
                LeaseTrace trace = trace(type);
                Counted count = new Counted(scene);
                Lease lease = new Claim(count);
                scene.onlyOnce();
                return FaultCall.on(trace, lease, trace.opened(lease, count, "tag"));
            });
        }
        all.on("LeaseLedger.lost(Object)", scene -> {
            LeaseLedger ledger = LeaseLedger.full();
            Counted count = new Counted(scene);
            scene.onlyOnce();
            return FaultCall.on(ledger, ledger.opened(new Claim(count), count, "tag"));
        });
        all.on("LeaseTrace.lost(Object)", scene -> {
            Counted count = new Counted(scene);
            scene.onlyOnce();
            return FaultCall.on(scene.trace(), scene.trace().opened(new Claim(count), count, "tag"));
        });
        all.on("LeaseTrace.opened(Lease, RefCount, Object)", scene -> {
            Counted count = new Counted(scene);
            Lease lease = new Claim(count);
            return FaultCall.on(scene.trace(), lease, count, "tag")
                    .then(traced -> scene.trace().closed(lease, traced));
        });
        all.on("LeaseTrace.closed(Lease, Object)", scene -> {
            Counted count = new Counted(scene);
            Lease lease = new Claim(count);
            scene.onlyOnce();
            return FaultCall.on(scene.trace(), lease, scene.trace().opened(lease, count, "tag"));
        });
        all.arguments("LeaseLedger.Holder.new(Object, Duration, long, List)", "tag", Duration.ZERO, 4L, List.of());
        return all;
    }

    private static LeaseTrace trace(String type) {
        return type.equals("LeaseTally")
                ? new LeaseTally()
                : LeaseLedger.full().withStacks().withCloses();
    }
}
