// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ThreadStartEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ThreadStartRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Lock-free: a debugger suspends a thread at every line of sharing, closing, reading and viewing, and the
/// others go on, on the same buffer and on the same source.
class LockFreedomTest {

    private static final String COUNT = "io.bulla.refcount.";
    private static final String BUFFER = "io.bulla.buffer.";

    /// Where to suspend: every line of these methods.
    private static final Map<String, List<String>> METHODS = Map.ofEntries(
            Map.entry(
                    COUNT + "RefCount",
                    List.of(
                            "retain",
                            "add",
                            "retainHere",
                            "releaseEnded",
                            "releaseFrom",
                            "release",
                            "isLast",
                            "releaseStriped",
                            "releaseHere",
                            "afterRelease",
                            "addHere",
                            "settle",
                            "foldIfLast",
                            "fold",
                            "unstripe",
                            "stripe",
                            "show")),
            Map.entry(
                    COUNT + "Stripes",
                    List.of("tryCreate", "fill", "add", "addTo", "take", "takeFrom", "fold", "drop")),
            Map.entry(
                    COUNT + "Lease",
                    List.of(
                            "retain",
                            "opened",
                            "keep",
                            "close",
                            "closeTraced",
                            "tellClosed",
                            "takeAttachment",
                            "isOpenInOrder")),
            Map.entry(COUNT + "Attachment", List.of("of", "end", "isOpenInOrder")),
            Map.entry(COUNT + "LeaseLedger", List.of("opened", "closed")),
            Map.entry(BUFFER + "SealedBuffer", List.of("share", "shareOf", "shares", "slice", "iovec", "checkOpen")),
            Map.entry("io.bulla.iovec.OneRegion", List.of("get")),
            Map.entry("io.bulla.iovec.GuardedVec", List.of("get", "verify")),
            Map.entry("io.bulla.iovec.StampedRegion", List.of("get", "verify")),
            Map.entry("io.bulla.iovec.Generation", List.of("isEnded", "end")),
            Map.entry(BUFFER + "Storage$One", List.of("free")),
            Map.entry(BUFFER + "Block", List.of("giveBack", "free")),
            Map.entry(BUFFER + "AloneRegion", List.of("release")),
            Map.entry(BUFFER + "Chunk", List.of("leave", "free")),
            Map.entry(BUFFER + "internal.IntrusiveStack", List.of("put")),
            Map.entry(BUFFER + "internal.Daemon", List.of("wake")),
            Map.entry(BUFFER + "ArenaCloser", List.of("close", "quarantine")));

    /// Several claims at once are given up where a block ends, which is part of building, where a share came too
    /// late, and where a handle cannot be made; a claim that is no handle's is a block's on its chunk.
    private static final Set<String> WHILE_BUILDING =
            Set.of(COUNT + "RefCount.release(I)V", COUNT + "RefCount.retain(I)Z");

    private static final long PATIENCE_MILLIS = 30_000;
    // the undoing of a lost race is not walked through by a thread that meets no other
    private static final int UNREACHED_MILLIS = 60;
    private static final int ENOUGH = 140;
    private static final long ALL_MILLIS = 300_000;

    private VirtualMachine vm;
    private BufferedReader answers;
    private OutputStream commands;
    private ThreadReference victim;

    @BeforeEach
    void launch() throws Exception {
        LaunchingConnector launcher = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = launcher.defaultArguments();
        arguments.get("home").setValue(System.getProperty("java.home"));
        arguments.get("main").setValue(ShareForEver.class.getName());
        arguments.get("options").setValue("-Xmx256m -XX:+UseSerialGC -cp \"" + ForkedJvm.classPath() + "\"");
        vm = launcher.launch(arguments);
        answers = vm.process().inputReader();
        commands = vm.process().getOutputStream();
        // the victim is caught as it starts, so that it need not be looked for while it runs
        ThreadStartRequest starts = vm.eventRequestManager().createThreadStartRequest();
        starts.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        starts.enable();
        vm.resume();
        while (victim == null) {
            for (Event event : next(PATIENCE_MILLIS)) {
                if (event instanceof ThreadStartEvent start
                        && start.thread().name().equals(ShareForEver.VICTIM)) {
                    victim = start.thread();
                }
            }
        }
        starts.disable();
        assertEquals(ShareForEver.READY, answer());
    }

    @AfterEach
    void end() throws InterruptedException {
        vm.process().destroyForcibly().waitFor();
    }

    @Test
    void threadSuspendedAnywhereBlocksNoOther() throws Exception {
        Set<String> methods = new TreeSet<>();
        List<Location> unreached = new ArrayList<>();
        int points = 0;
        for (Location where : locations()) {
            if (othersGoOnAt(where, UNREACHED_MILLIS)) {
                points++;
                methods.add(methodOf(where));
            } else {
                unreached.add(where);
            }
        }
        // those that come by seldom, as the end of a chunk does, or were missed on a busy machine
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ALL_MILLIS);
        int longer = UNREACHED_MILLIS;
        while ((points <= ENOUGH || unreached.stream().anyMatch(where -> !methods.contains(methodOf(where))))
                && System.nanoTime() < deadline) {
            longer *= 2;
            for (Location where : List.copyOf(unreached)) {
                if ((points <= ENOUGH || !methods.contains(methodOf(where))) && othersGoOnAt(where, longer)) {
                    points++;
                    methods.add(methodOf(where));
                    unreached.remove(where);
                }
            }
        }
        System.out.println("suspended at " + points + " lines, never at "
                + (locations().size() - points) + " (errors, lost races); the others went on at each");
        Set<String> never = new TreeSet<>();
        unreached.forEach(where -> never.add(methodOf(where)));
        never.removeAll(methods);
        assertEquals(Set.of(), never, "never suspended in these, overloads apart");
        assertTrue(points > ENOUGH, "points=" + points);
    }

    private boolean othersGoOnAt(Location where, long patienceMillis) throws Exception {
        if (!suspendAt(where, patienceMillis)) {
            return false;
        }
        commands.write('\n');
        commands.flush();
        assertEquals(ShareForEver.DONE, answer(), () -> "victim suspended at " + where);
        assertTrue(victim.isSuspended());
        victim.resume();
        return true;
    }

    private static String methodOf(Location where) {
        return where.declaringType().name() + "." + where.method().name()
                + where.method().signature();
    }

    /// Suspends the victim, alone, the next time it comes by; the others, which rest now, run at full speed.
    private boolean suspendAt(Location where, long patienceMillis) throws Exception {
        BreakpointRequest stop = vm.eventRequestManager().createBreakpointRequest(where);
        stop.addThreadFilter(victim);
        stop.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        stop.enable();
        boolean there = false;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        while (!there && System.nanoTime() < deadline) {
            for (Event event : next(patienceMillis)) {
                if (event instanceof BreakpointEvent) {
                    there = !isBuilding();
                    if (!there) {
                        victim.resume();
                    }
                }
            }
        }
        vm.eventRequestManager().deleteEventRequest(stop);
        if (!there) {
            // it may have come by in between
            for (EventSet late = vm.eventQueue().remove(1);
                    late != null;
                    late = vm.eventQueue().remove(1)) {
                late.resume();
            }
        }
        return there;
    }

    /// A builder that needs another block takes a lock; it makes no promise.
    private boolean isBuilding() throws IncompatibleThreadStateException {
        for (StackFrame frame : victim.frames()) {
            if (frame.location().declaringType().name().equals(BUFFER + "ArenaSource")) {
                return true;
            }
        }
        return false;
    }

    private List<Location> locations() throws Exception {
        List<Location> all = new ArrayList<>();
        for (Map.Entry<String, List<String>> each : METHODS.entrySet()) {
            ReferenceType type = vm.classesByName(each.getKey()).getFirst();
            for (String name : each.getValue()) {
                assertTrue(!type.methodsByName(name).isEmpty(), each.getKey() + " has no " + name);
                for (com.sun.jdi.Method method : type.methodsByName(name)) {
                    Set<Integer> lines = new TreeSet<>();
                    for (Location line : method.allLineLocations()) {
                        if (!WHILE_BUILDING.contains(methodOf(line)) && lines.add(line.lineNumber())) {
                            all.add(line);
                        }
                    }
                }
            }
        }
        return all;
    }

    private Collection<Event> next(long millis) throws InterruptedException {
        EventSet events = vm.eventQueue().remove(millis);
        if (events == null) {
            return List.of();
        }
        for (Event event : events) {
            if (event instanceof VMDeathEvent) {
                fail("the other JVM died");
            }
        }
        return events;
    }

    private String answer() throws Exception {
        CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> {
            try {
                return answers.readLine();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        try {
            return line.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return "nothing: somebody waits";
        }
    }
}
