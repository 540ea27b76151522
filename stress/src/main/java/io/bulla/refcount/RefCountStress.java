package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/// The orderings of [RefCount], each as a race.
public class RefCountStress {

    static class Thing extends RefCount {

        final AtomicInteger frees = new AtomicInteger();

        Thing() {
            super(null);
        }

        @Override
        protected void free() {
            frees.incrementAndGet();
        }
    }

    static final class Claim extends Lease {

        Claim(RefCount count) {
            super(count);
        }

        Claim share() {
            Claim other = new Claim(count());
            retain(null, other);
            return other;
        }

        Claim shareOrNull() {
            try {
                return share();
            } catch (IllegalStateException lost) {
                return null;
            }
        }
    }

    /// Ordering 2: a share of one handle beside the close of another never meets a freed resource.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the share was counted; freed once, after all closes")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class RetainBesideRelease {

        private final Thing thing = new Thing();
        private final Claim first = new Claim(thing);
        private final Claim second = first.share();
        private Claim third;
        private int freedBeside;

        @Actor
        public void sharer() {
            third = first.shareOrNull();
            freedBeside = thing.frees.get();
        }

        @Actor
        public void closer() {
            second.close();
        }

        @Arbiter
        public void judge(II_Result result) {
            first.close();
            int beforeLast = freedBeside + thing.frees.get();
            if (third != null) {
                third.close();
            }
            result.r1 = third != null && beforeLast == 0 ? 1 : 0;
            result.r2 = thing.frees.get();
        }
    }

    /// Ordering 1: whoever frees sees every use by every holder.
    @JCStressTest
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both uses happened before the free")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class UseThenFree {

        private int usedByFirst;
        private int usedBySecond;
        private int sawFirst;
        private int sawSecond;
        private final RefCount thing = new RefCount(null) {
            @Override
            protected void free() {
                sawFirst = usedByFirst;
                sawSecond = usedBySecond;
            }
        };
        private final Claim first = new Claim(thing);
        private final Claim second = first.share();

        @Actor
        public void one() {
            usedByFirst = 1;
            first.close();
        }

        @Actor
        public void two() {
            usedBySecond = 2;
            second.close();
        }

        @Arbiter
        public void judge(II_Result result) {
            result.r1 = sawFirst;
            result.r2 = sawSecond;
        }
    }

    /// A handle closed by two threads at once is one claim less, not two.
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the closes counted; the other holder still holds")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class CloseBesideClose {

        private final Thing thing = new Thing();
        private final Claim first = new Claim(thing);
        private final Claim other = first.share();

        @Actor
        public void one() {
            first.close();
        }

        @Actor
        public void two() {
            first.close();
        }

        @Arbiter
        public void judge(I_Result result) {
            result.r1 = thing.frees.get() == 0 && other.isOpen() ? (int) thing.holders() : -1;
        }
    }

    /// Ordering 3: late shares beside the last close, and after it, all fail or all count; the resource is freed
    /// once.
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no share was open when the resource was freed")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class LateSharesBesideTheLastClose {

        private final Thing thing = new Thing();
        private final Claim only = new Claim(thing);
        private int openWhenFreed;

        @Actor
        public void sharer() {
            use(only.shareOrNull());
        }

        @Actor
        public void closer() {
            only.close();
            use(thing.retain(1) ? new Claim(thing) : null);
        }

        private void use(Claim claim) {
            if (claim != null) {
                if (thing.frees.get() != 0) {
                    openWhenFreed = 1;
                }
                claim.close();
            }
        }

        @Arbiter
        public void judge(II_Result result) {
            result.r1 = thing.frees.get();
            result.r2 = openWhenFreed;
        }
    }
}
